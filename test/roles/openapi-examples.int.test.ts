import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest as Server } from '../scenarios/server-under-test.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { servedRoutes } from '../../scripts/served-routes.js';
import {
  documentOf,
  operationsOf,
  type PlacedOperation,
  undocumentedHeaders,
  undocumentedIn,
  validatorOf,
} from '../support/openapi.js';

const document = documentOf(servedRoutes());
const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
const compile = validatorOf(document);

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers of every shape
type Json = any;
/** The responses so far, by operation. */
type Answers = Readonly<Record<string, Json>>;
type Sent = {
  readonly operationId: string;
  readonly params?: (answers: Answers) => Readonly<Record<string, string>>;
  /** The body if the example cannot be sent alone; the example is its pattern. */
  readonly body?: (example: Json, answers: Answers) => unknown;
};

const send = (operationId: string, rest: Omit<Sent, 'operationId'> = {}): Sent => ({ operationId, ...rest });
const turnOf = ({ processStep }: Answers) => ({ npcId: 'mira', turnId: processStep.tape.turnId as string });
const sessionOf = ({ runGhost }: Answers) => ({ sessionId: runGhost.id as string });
const soulOf = ({ uploadToArchive }: Answers) => ({ txId: uploadToArchive.id as string });

/** A story that sends every example: each request after those that it needs. */
const story: readonly Sent[] = [
  send('registerNpc'),
  send('listNpcs'),
  send('getNpc'),
  send('patchNpc'),
  send('reportFacts'),
  send('reportFactsOfMany'),
  send('getFacts'),
  send('checkRules'),
  send('registerRules'),
  send('listRules'),
  send('getRules'),
  send('listRuleVersions'),
  send('ruleSetSchema'),
  send('testRules'),
  send('listPresets'),
  send('registerPreset'),
  send('processStep'),
  send('listTurns'),
  send('listPlayers'),
  send('getTurn', { params: turnOf }),
  send('why', { params: turnOf }),
  send('directive'),
  send('context'),
  send('verdict'),
  send('verifyVerdict'),
  send('getJwks'),
  send('rotateSigningKeys'),
  send('revokeSigningKey', {
    params: ({ getJwks }) => ({ kid: getJwks.keys[0].kid as string }),
    body: (example) => ({ ...example, since: null }),
  }),
  send('listSigningKeys'),
  send('validateAction'),
  send('validateActionOf'),
  send('listBridgeRules'),
  send('storeAgentMemory'),
  send('confirmMemory'),
  send('recallMemories'),
  send('recallAgentMemories'),
  send('listMemories'),
  send('memoryLineage', { params: ({ confirmMemory }) => ({ npcId: 'mira', memoryId: confirmMemory.id as string }) }),
  send('retractMemories', {
    body: (example, { confirmMemory }) => ({ ...example, memoryIds: [confirmMemory.id] }),
  }),
  send('listRetractions'),
  send('listOpenTurns'),
  send('processInput'),
  send('showPrompt'),
  send('search'),
  send('activity'),
  send('npcActivity'),
  send('history'),
  send('state'),
  send('npcChanges', { params: () => ({ npcId: 'mira', from: '0' }) }),
  send('findChainBreaks'),
  send('acknowledgeChainBreaks'),
  send('importCard', { params: () => ({ npcId: 'tomas' }) }),
  send('exportCard', { params: () => ({ npcId: 'tomas' }) }),
  send('archiveNpc', { params: () => ({ npcId: 'tomas' }) }),
  send('listCortexModels'),
  send('initCortex'),
  send('completePrompt'),
  send('testCortex'),
  send('exportSoul'),
  send('uploadToArchive'),
  send('getFromArchive', { params: soulOf }),
  send('confirmSoul', {
    body: ({ secUploadResult }, { exportSoul, uploadToArchive }) => ({
      secUploadResult: { ...secUploadResult, aurTxId: uploadToArchive.id },
      secSignedPayload: exportSoul.se1SignedPayload,
      secSignature: exportSoul.se1Signature,
    }),
  }),
  send('exportAgentSoul'),
  send('listSouls'),
  send('soulSchema'),
  send('getSoul', { params: soulOf }),
  send('verifySoul', { params: soulOf }),
  send('discloseSoul', { params: soulOf }),
  send('importSoul'),
  send('importSoul', { body: (_, { uploadToArchive }) => ({ txIdRef: uploadToArchive.id }) }),
  send('confirmImport', {
    body: (example, { uploadToArchive, getFromArchive }) => ({
      ...example,
      sicTxId: uploadToArchive.id,
      sicDownloadResult: { ...example.sicDownloadResult, adrBody: getFromArchive },
    }),
  }),
  send('withdrawSoul', { params: soulOf }),
  send('getCustody', { params: ({ confirmImport }) => ({ npcId: confirmImport.npcId as string }) }),
  send('putLevel', { params: () => ({ levelId: 'back-room' }) }),
  send('listLevels'),
  send('getLevel'),
  send('deleteLevel', { params: () => ({ levelId: 'back-room' }) }),
  send('runGhost'),
  send('runGhostSuite'),
  send('ghostHistory'),
  send('ghostStatus', { params: sessionOf }),
  send('ghostResults', { params: sessionOf }),
  send('ghostSteps', { params: sessionOf }),
  send('stopGhost', { params: sessionOf }),
  send('replayGhost'),
  send('runGhost', { body: (example) => ({ ...example, level: 'cellar', driver: 'remote' }) }),
  send('processGhostStep', { params: sessionOf }),
  send('replayNpc'),
  send('getNpcReplay', { params: ({ replayNpc }) => ({ npcId: 'mira', replayId: replayNpc.replayId as string }) }),
  send('cancelNpcReplay', { params: ({ replayNpc }) => ({ npcId: 'mira', replayId: replayNpc.replayId as string }) }),
  send('replayNpcs'),
  send('getReplay', { params: ({ replayNpcs }) => ({ replayId: replayNpcs.replayId as string }) }),
  send('cancelReplay', { params: ({ replayNpcs }) => ({ replayId: replayNpcs.replayId as string }) }),
  send('ruleCoverage'),
  send('deleteRules'),
  send('makeCheckpoint'),
  send('listCheckpoints'),
  send('getLatestCheckpoint'),
  send('restartLog'),
  send('proveConsistency', { params: ({ makeCheckpoint }) => ({ size: String(makeCheckpoint.size) }) }),
  send('proveNpc'),
  send('audit'),
  send('issueKey'),
  send('listKeys'),
  send('listAccess'),
  send('changeKey', { params: ({ issueKey }) => ({ keyId: issueKey.keyId as string }) }),
  send('revokeKey', { params: ({ issueKey }) => ({ keyId: issueKey.keyId as string }) }),
  send('createTenant'),
  send('issuePlayerToken'),
  send('clearMemories'),
  send('getStatus'),
  send('getLivez'),
  send('getReadyz'),
  send('getOpenApi'),
];

const isAboutMira = (url: string): boolean => /\/(npcs|agents)\/mira\b/.test(url);

const known = ({ operationId }: Sent): PlacedOperation => {
  const operation = operations.get(operationId);
  if (operation === undefined) throw new Error(`no operation is called ${operationId}`);
  return operation;
};

describe('the examples of the document', () => {
  let server: Server;
  const answers: Record<string, Json> = {};
  let sentSoFar = 0;
  /** The last revision of the NPC that most requests use; reads must include it. */
  let revision = '0';
  beforeAll(async () => {
    server = await openEmbeddedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** The request that a page made from the document sends: each required parameter with its example. */
  const ask = async (sent: Sent) => {
    const { method, path, parameters, requestBody } = known(sent);
    const given = sent.params?.(answers) ?? {};
    const url = new URL(path, server.url);
    const required = parameters.filter((parameter) => parameter.required);
    for (const { name, in: where, example } of required) {
      const value = given[name] ?? String(example);
      if (where === 'query') url.searchParams.set(name, value);
      else url.pathname = url.pathname.replace(encodeURI(`{${name}}`), encodeURIComponent(value));
    }
    const example = requestBody?.content['application/json']?.example;
    const own = sent.operationId === 'uploadToArchive' ? answers['exportSoul'].se1Instruction : null;
    const body = own === null ? (sent.body?.(example, answers) ?? example) : own.auiPayload;
    return fetch(url, {
      method,
      headers: {
        authorization: own === null ? `Bearer ${server.ownerKey}` : own.auiAuthHeader,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(isAboutMira(url.href) ? { 'anima-min-revision': revision } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };

  it.each(story.map((sent, at) => [`${String(at)} ${sent.operationId}`, sent] as const))(
    'are accepted by a server, and get the documented response: %s',
    async (_, sent) => {
      const response = await ask(sent);
      const text = await response.text();
      const documented = known(sent).responses[String(response.status)];
      expect(response.status, text).toBeLessThan(300);
      sentSoFar += 1;
      if (isAboutMira(response.url)) revision = response.headers.get('anima-revision') ?? revision;
      const { status, headers } = response;
      expect(undocumentedHeaders(document, known(sent), String(status), headers.keys())).toEqual([]);
      const content = documented?.content?.['application/json'];
      if (content === undefined) {
        expect(text).toBe('');
        return;
      }
      const answer: unknown = JSON.parse(text);
      answers[sent.operationId] = answer;
      const check = compile(content.schema);
      check(answer);
      expect(check.errors ?? [], text).toEqual([]);
      expect(undocumentedIn(document, compile, content.schema, answer)).toEqual([]);
    },
  );

  it('are all sent', () => {
    expect(sentSoFar).toBe(story.length);
    const sent = new Set(story.map(({ operationId }) => operationId));
    const withBody = [...operations.values()].filter(({ requestBody }) => requestBody !== undefined);
    expect(withBody.map(({ operationId }) => operationId).filter((name) => !sent.has(name))).toEqual([]);
  });
});
