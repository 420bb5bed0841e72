import type { SoulDocument } from '../../src/features/souls/domain/document.js';
import { strangersSoul } from '../souls/document.js';
import { get, type Input, post, type Send, type Sent } from './input.js';

/** Nearly 15 MiB: as many memories of 40 characters as fit, and memories with the maximum metadata. */
const MANY = 38_000;
const FEW = 900;
const NOTES_BYTES = 16_000;

const confirmation = (txId: string, adrBody: object | string): Sent =>
  post('/npcs/import/confirm', { sicTxId: txId, sicDownloadResult: { adrBody, adrStatus: 200, adrSuccess: true } });

const begun = async (npcId: string, send: Send, memories: number, notesBytes: number): Promise<SoulDocument> => {
  await send(post('/npcs/import', { txIdRef: npcId }));
  return strangersSoul(memories, notesBytes, npcId);
};

/** The one mind that is exported and read, once it exists. */
let here: Promise<string> | null = null;
const brought = (send: Send): Promise<string> =>
  (here ??= begun('here', send, MANY, 0)
    .then((soul) => send(confirmation('here', soul)))
    .then(() => 'here'));

type Instruction = { readonly auiPayload: object; readonly auiAuthHeader: string; readonly auiEndpoint: string };
type Begun = { readonly se1Instruction: Instruction; readonly se1Signature: string };

const exporting = async (send: Send): Promise<Begun> => {
  const npcId = await brought(send);
  return (await send(post(`/npcs/${npcId}/soul/export`, {}))) as Begun;
};

const uploading = ({ se1Instruction: { auiPayload, auiAuthHeader, auiEndpoint } }: Begun): Sent => ({
  ...post(new URL(auiEndpoint).pathname, auiPayload),
  authorization: auiAuthHeader,
});

const confirming = async (send: Send): Promise<Sent> => {
  const npcId = await brought(send);
  const soul = await exporting(send);
  const { id } = (await send(uploading(soul))) as { id: string };
  return post(`/npcs/${npcId}/soul/confirm`, {
    secUploadResult: { aurTxId: id, aurStatus: 200, aurSuccess: true },
    secSignedPayload: soul.se1Instruction.auiPayload,
    secSignature: soul.se1Signature,
  });
};

/** A request about an exported soul: its document is parsed once. */
const about = async (send: Send, asked: (txId: string) => Sent): Promise<Sent> => {
  const confirmed = await confirming(send);
  const { txId } = (await send(confirmed)) as { txId: string };
  return { ...asked(txId), parses: JSON.stringify(confirmed.body) };
};

/** The largest souls, exported and imported. */
export const soulInputs: Readonly<Record<string, Input>> = {
  'import a soul with 38,000 memories': async (npcId, send) => confirmation(npcId, await begun(npcId, send, MANY, 0)),
  'import a soul as JSON text': async (npcId, send) => {
    const text = JSON.stringify(await begun(npcId, send, MANY, 0));
    return { ...confirmation(npcId, text), parses: text };
  },
  'import a soul, 900 memories with 16 kB of metadata': async (npcId, send) =>
    confirmation(npcId, await begun(npcId, send, FEW, NOTES_BYTES)),
  'export a soul with 38,000 memories': async (_, send) => post(`/v1/agents/${await brought(send)}/soul/export`, {}),
  'upload a soul': async (_, send) => uploading(await exporting(send)),
  'confirm a soul': (_, send) => confirming(send),
  'read a soul': (_, send) => about(send, (txId) => get(`/souls/${txId}`)),
  'verify a soul': (_, send) => about(send, (txId) => post(`/souls/${txId}/verify`, {})),
  'scan a soul for players': (_, send) => about(send, (txId) => get(`/souls/${txId}/disclosure`)),
  'the memories of a mind, all': async (_, send) => get(`/npcs/${await brought(send)}/memory?limit=500`),
  'a recall among 38,000 memories': async (_, send) =>
    post(`/npcs/${await brought(send)}/memory/recall`, { query: 'a stranger at the gate', limit: 100 }),
};
