/** All stream names are made here, so no id can refer to the stream of another. */

const escape = (part: string): string =>
  part.replace(/[^A-Za-z0-9_-]/gu, (char) =>
    Array.from(new TextEncoder().encode(char), (byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );

const unescape = (part: string): string => (part.includes('=') ? unescapeBytes(part) : part);

const unescapeBytes = (part: string): string =>
  new TextDecoder().decode(
    Uint8Array.from(
      Array.from(part.matchAll(/=([0-9a-f]{2})|[^=]/g), ([whole, hex]) =>
        hex === undefined ? whole.charCodeAt(0) : parseInt(hex, 16),
      ),
    ),
  );

export const npcStream = (tenant: string, npcId: string): string => `npc-${escape(tenant)}.${escape(npcId)}`;
export const rulesetStream = (tenant: string, rulesetId: string): string =>
  `ruleset-${escape(tenant)}.${escape(rulesetId)}`;
export const levelStream = (tenant: string, levelId: string): string => `level-${escape(tenant)}.${escape(levelId)}`;
/** The imports of the payload that an archive calls `txId`. */
export const importStream = (tenant: string, txId: string): string => `import-${escape(tenant)}.${escape(txId)}`;
const importStreamName = /^import-([^.]+)\.([^.~]+)$/;

/** Parses the name of an import stream; null for other streams. */
export const parseImportStream = (stream: string): { tenant: string; txId: string } | null => {
  const match = importStreamName.exec(stream);
  return match === null ? null : { tenant: unescape(match[1] ?? ''), txId: unescape(match[2] ?? '') };
};
/** The stream of a ghost session. */
export const ghostStream = (tenant: string, sessionId: string): string =>
  `ghost-${escape(tenant)}.${escape(sessionId)}`;
/** The steps of one ghost session. */
export const ghostStepsStream = (tenant: string, sessionId: string): string =>
  `ghoststeps-${escape(tenant)}.${escape(sessionId)}`;
const ghostStreamName = /^ghost-([^.]+)\.([^.~]+)$/;

/** Parses the name of a session stream; null for other streams. */
export const parseGhostStream = (stream: string): { tenant: string; sessionId: string } | null => {
  const match = ghostStreamName.exec(stream);
  return match === null ? null : { tenant: unescape(match[1] ?? ''), sessionId: unescape(match[2] ?? '') };
};
/** The mind of a ghost session that has a body elsewhere; it is not one of the tenant's minds. */
export const ghostMindStream = (tenant: string, sessionId: string): string =>
  `ghostmind-${escape(tenant)}.${escape(sessionId)}`;
const ghostMindStreamName = /^ghostmind-([^.]+)\.([^.~]+)$/;

/** Parses the name of such a mind stream; null for other streams. */
export const parseGhostMindStream = (stream: string): { tenant: string; sessionId: string } | null => {
  const match = ghostMindStreamName.exec(stream);
  return match === null ? null : { tenant: unescape(match[1] ?? ''), sessionId: unescape(match[2] ?? '') };
};
/** The stream of a replay. */
export const replayStream = (tenant: string, replayId: string): string =>
  `replay-${escape(tenant)}.${escape(replayId)}`;
const replayStreamName = /^replay-([^.]+)\.([^.~]+)$/;

/** Parses the name of a replay stream; null for other streams. */
export const parseReplayStream = (stream: string): { tenant: string; replayId: string } | null => {
  const match = replayStreamName.exec(stream);
  return match === null ? null : { tenant: unescape(match[1] ?? ''), replayId: unescape(match[2] ?? '') };
};
/** Where a soul, identified by its root, lives on this server, across all tenants. */
export const custodyStream = (root: string): string => `custody.${escape(root)}`;
/** The log of a tenant: heads of its minds, and checkpoints. */
export const logStream = (tenant: string): string => `checkpoints-${escape(tenant)}`;
const logStreamName = /^checkpoints-([^.~]+)$/;

/** The tenant of a log stream; null for other streams. */
export const parseLogStream = (stream: string): string | null => {
  const match = logStreamName.exec(stream);
  return match === null ? null : unescape(match[1] ?? '');
};
/** Who read the histories of a tenant, and who acted with the scopes of operators. */
export const accessStream = (tenant: string): string => `access-${escape(tenant)}`;
/** The prefix of the streams of tenants, and of no other stream. */
export const tenantStreamPrefix = 'tenant-';
export const tenantStream = (tenant: string): string => tenantStreamPrefix + escape(tenant);
/** The tenant of the machine that the server runs on. Only its owner key creates other tenants. */
export const localTenant = 'local';
/** Names every tenant; the one stream read to find the others. */
export const tenantsStream = 'tenants';
/** The server's verdict-signing keys, wrapped. */
export const signingKeysStream = 'signing-keys';

const npcStreamName = /^npc-([^.]+)\.([^.~]+)$/;

/** Whether a stream belongs to a mind; cheaper than parsing its name. */
export const isNpcStream = (stream: string): boolean => npcStreamName.test(stream);

/** Parses the name of a mind stream; null for other streams. */
export const parseNpcStream = (stream: string): { tenant: string; npcId: string } | null => {
  const match = npcStreamName.exec(stream);
  return match === null ? null : { tenant: unescape(match[1] ?? ''), npcId: unescape(match[2] ?? '') };
};

/** The tenant of a stream; null for the streams of the server itself. */
export const tenantOf = (stream: string): string | null => {
  const match = /^[a-z]+-([^.]+)(\.|$)/.exec(stream);
  return match === null || stream === signingKeysStream ? null : unescape(match[1] ?? '');
};
