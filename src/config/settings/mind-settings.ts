import type { SettingDefinition } from './setting.js';

const TEXT = 'text';

/** Settings of recall, engines, souls and ghosts. */
export const mindSettings = {
  ANIMA_EMBEDDER: {
    group: 'recall',
    default: 'builtin',
    expects: '"builtin", "onnx:" followed by a folder, or an http or https URL ending in /v1',
    about: 'The model with which recall compares meanings.',
  },
  ANIMA_EMBEDDER_MODEL: {
    group: 'recall',
    default: null,
    expects: '1 to 128 visible ASCII characters without spaces',
    about: 'The name of the model. Required if `ANIMA_EMBEDDER` is a URL.',
  },
  ANIMA_EMBEDDER_KEY: {
    group: 'recall',
    default: null,
    expects: TEXT,
    about: 'The API key for that URL.',
  },
  ANIMA_EMBEDDER_KEY_FILE: { group: 'recall', default: null, expects: TEXT, about: 'A file that contains this key.' },
  /**
   * For embedders that have not been measured. Models trained on sentence pairs are near it; some put all texts closer together and need up to 0.8.
   */
  ANIMA_EMBEDDER_RELATED: {
    group: 'recall',
    default: '0.4',
    expects: 'a number above 0 and below 1, for example 0.4',
    about:
      'The cosine from which texts count as related; it becomes the score 0.5. Not for the built-in embedder, which is calibrated.',
  },
  ANIMA_EMBEDDER_THREADS: {
    group: 'recall',
    default: null,
    defaultShown: '`1`',
    min: 1,
    max: 64,
    about: 'The threads of an embedder that runs in the server. Each thread loads its own copy of the model.',
  },
  ANIMA_RECALL_CACHE_MB: {
    group: 'recall',
    default: '256',
    min: 1,
    max: 1_048_576,
    unit: 'megabytes',
    about: 'Memory for the vectors of the minds that recall.',
  },
  ANIMA_EMBEDDING_CACHE_MB: {
    group: 'recall',
    default: '16',
    min: 1,
    max: 1_048_576,
    unit: 'megabytes',
    about: 'Memory for the texts that were embedded last, with their vectors: they are not embedded again.',
  },
  ANIMA_EMBEDDING_SHARE: {
    group: 'recall',
    default: '50',
    min: 1,
    max: 100,
    unit: 'percent',
    about: 'The share of the time of one core that embedding may take in the background.',
  },
  ANIMA_CORTEX_URL: {
    group: 'engines',
    default: null,
    expects: 'an http or https URL that ends in /v1, like http://127.0.0.1:11434/v1',
    about:
      'A model server with the OpenAI API, as the default engine. Without this and `ANIMA_CORTEX_GGUF`, the default is the scripted engine.',
  },
  ANIMA_CORTEX_MODEL: {
    group: 'engines',
    default: null,
    expects: TEXT,
    about: 'The name of the model. Required with `ANIMA_CORTEX_URL`.',
  },
  ANIMA_CORTEX_KEY: { group: 'engines', default: null, expects: TEXT, about: 'The API key of the model server.' },
  ANIMA_CORTEX_KEY_FILE: { group: 'engines', default: null, expects: TEXT, about: 'A file that contains this key.' },
  ANIMA_CORTEX_GGUF: {
    group: 'engines',
    default: null,
    expects: TEXT,
    about: 'A GGUF file as the default engine. It needs the package `node-llama-cpp`.',
  },
  ANIMA_CORTEX_THREADS: {
    group: 'engines',
    default: null,
    defaultShown: 'half of the cores, from 1 to 8',
    min: 1,
    max: 256,
    about: 'The threads of the GGUF model.',
  },
  ANIMA_CORTEX_CONTEXT_TOKENS: {
    group: 'engines',
    default: null,
    defaultShown: '`16384` for a GGUF file, no limit for a model server',
    min: 512,
    max: 1_048_576,
    about: 'How many tokens of prompt and answer the model takes. The prompts of agents are shortened to it.',
  },
  ANIMA_CORTEX_MAX_TOKENS: {
    group: 'engines',
    default: null,
    defaultShown: '`512`',
    min: 16,
    max: 32_768,
    about: 'How many tokens the model may use for the answer of a turn. Models that reason need more.',
  },
  ANIMA_CORTEX_TEMPERATURE: {
    group: 'engines',
    default: null,
    defaultShown: '`0.7`',
    expects: 'a number from 0 to 2, for example 0.7',
    about: 'The temperature of the model in turns.',
  },
  ANIMA_CORTEX_EXTRA: {
    group: 'engines',
    default: null,
    expects:
      'a JSON object of at most 4096 bytes and 32 members, without the members that the server sends itself (model, messages, stream, max_tokens, max_completion_tokens, temperature, stop, response_format), such as {"reasoning_effort":"low"}',
    about: 'More members of each request to the model server.',
  },
  ANIMA_CORTEX_WAITING: {
    group: 'engines',
    default: '64',
    min: 1,
    max: 10_000,
    unit: 'turns',
    about:
      'How many turns of agents wait in one process for an engine that is down. Others try again after pauses of up to a minute. In the distributed profile, keep it below 100.',
  },
  IPFS_API_URL: {
    group: 'souls',
    default: null,
    expects: 'an http or https URL, without "/api/v0"',
    about: 'The RPC API of an IPFS node, such as `http://127.0.0.1:5001`.',
  },
  IPFS_GATEWAY_URL: {
    group: 'souls',
    default: null,
    expects: 'an http or https URL',
    about: 'Where clients read a CID that this server does not have, such as `https://ipfs.io/ipfs`.',
  },
  ARWEAVE_GATEWAY_URL: {
    group: 'souls',
    default: null,
    expects: 'an http or https URL',
    about: 'Where payloads on Arweave are read, such as `https://arweave.net/raw`.',
  },
  ARWEAVE_BUNDLER_URL: {
    group: 'souls',
    default: null,
    expects: 'an http or https URL',
    about: 'Where clients upload souls instead of to this server. Requires `ARWEAVE_GATEWAY_URL` and a token.',
  },
  ARWEAVE_BUNDLER_KEY: {
    group: 'souls',
    default: null,
    expects: TEXT,
    about: 'The token for uploads. Clients see it, so it must allow nothing else.',
  },
  ARWEAVE_BUNDLER_KEY_FILE: { group: 'souls', default: null, expects: TEXT, about: 'A file that contains this token.' },
  ANIMA_SOUL_GATEWAYS: {
    group: 'souls',
    default: null,
    max: 16,
    expects: 'up to 16 http or https URLs, separated by commas or white space',
    about:
      'Other places to fetch souls from, such as `https://host/archive` of another server. `private+` before a URL allows a host in the private network.',
  },
  ANIMA_SOUL_TRUST: {
    group: 'souls',
    default: null,
    defaultShown: 'every valid soul is accepted',
    expects: 'key thumbprints, separated by commas or white space',
    about: 'The thumbprints of the keys whose souls are accepted.',
  },
  ANIMA_GHOST_SHARE: {
    group: 'ghosts',
    default: '50',
    min: 1,
    max: 100,
    unit: 'percent',
    about: 'The share of the time of one core that ghost sessions may take in one process.',
  },
  ANIMA_GHOST_TEXTS: {
    group: 'ghosts',
    default: '1',
    min: 1,
    max: 64,
    unit: 'texts',
    about:
      'How many texts an engine makes at a time for the ghost sessions of one process. Raise it only if the model server batches.',
  },
  ANIMA_URL: {
    group: 'command line',
    default: null,
    defaultShown: '`http://127.0.0.1:8080`',
    about: 'The server that the commands of `anima` call.',
  },
  ANIMA_API_KEY: {
    group: 'command line',
    default: null,
    defaultShown: 'the owner key in `ANIMA_DATA_DIR`',
    about: 'The API key that these commands send.',
  },
  ANIMA_SERVERS_DIR: {
    group: 'command line',
    default: null,
    defaultShown: '`.servers`',
    about: 'The directory of `npm run servers`.',
  },
  ANIMA_SERVERS_CACHE: {
    group: 'command line',
    default: null,
    defaultShown: 'a directory of the user',
    about: 'Where `npm run servers` keeps its downloads.',
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;
