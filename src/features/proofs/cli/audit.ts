import { Command } from 'commander';

import { parseLogStream } from '../../../kernel/base/stream-names.js';
import type { CheckpointAt } from '../log.js';
import { type Checkpoint, readCheckpoint } from '../domain/checkpoint.js';
import { fromHex } from '../domain/edge.js';
import { extensionReason } from '../domain/extension.js';
import type { ConsistencyProof } from '../http/schemas.js';
import type { LogStatus } from '../log-status.js';
import type { AuditAnswer, Broken } from '../audit-findings.js';
import { remarkUnpublished } from './checkpoint.js';
import { keptNotes, keptOfServer } from './kept-notes.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { counted } from '../../../cli/shared/text.js';

type Request = Awaited<ReturnType<typeof openClient>>;
type ConsistencyAnswer = (typeof ConsistencyProof)['static'];
type AuditOptions = { readonly acceptAcknowledged?: true; readonly checkpoint?: string; readonly json?: true };

const problemLine = ({ stream, npcId, revision, reason, acknowledged }: Broken): string => {
  const line = `${npcId ?? (parseLogStream(stream) === null ? stream : 'the log')}  revision ${String(revision)}: ${reason}`;
  if (acknowledged === null) return line;
  const why = acknowledged.reason === null ? 'no reason was given' : acknowledged.reason;
  return `${line} (acknowledged by ${acknowledged.by} at ${acknowledged.at}: ${why})`;
};

/** Why the newest checkpoint of the server does not extend one that was kept; null if it does. */
const keptReason = async (request: Request, kept: Checkpoint): Promise<string | null> => {
  let latest: CheckpointAt;
  try {
    latest = (await request('GET', '/audit/checkpoints/latest')) as CheckpointAt;
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
    return `the kept checkpoint is of a log of size ${String(kept.size)}, but the server has no log: it was deleted, or an older backup was restored`;
  }
  const now = readCheckpoint(latest.note)?.checkpoint;
  if (now === undefined) return 'the newest checkpoint of the server is not a note of a log';
  const isBetween = kept.origin === now.origin && kept.size > 0 && kept.size < now.size;
  const { path } = isBetween
    ? ((await request(
        'GET',
        `/audit/checkpoints/${String(now.size)}/consistency?from=${String(kept.size)}`,
      )) as ConsistencyAnswer)
    : { path: [] };
  return extensionReason(kept, now, path.map(fromHex));
};

/** What an audit counted in all of its pages. */
type Audited = {
  readonly events: number;
  readonly broken: number;
  readonly open: number;
  readonly log: LogStatus | null;
};

const auditPages = async (
  terminal: Terminal,
  request: Request,
  npcIds: readonly string[],
  json: boolean,
): Promise<Audited> => {
  let audited: Audited = { events: 0, broken: 0, open: 0, log: null };
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const asked = { ...(npcIds.length === 0 ? {} : { npcIds }), ...(after === undefined ? {} : { after }) };
    const page = (await request('POST', '/audit/verify', asked)) as AuditAnswer;
    if (json) printJson(terminal, page);
    else for (const problem of page.broken) print(terminal, problemLine(problem));
    audited = {
      events: audited.events + page.events,
      broken: audited.broken + page.broken.length,
      open: audited.open + page.broken.filter(({ acknowledged }) => acknowledged === null).length,
      log: page.log,
    };
    after = page.next;
  }
  return audited;
};

const NO_LOG =
  'No log: there is no checkpoint to compare the histories with, so a rewritten history would not be found. If there should be one, it was deleted or an older backup was restored: check with --checkpoint and a checkpoint that you kept. Otherwise make the first one: npx anima checkpoint';

/** @throws JudgedNo, NotJudged */
const audit = async (
  terminal: Terminal,
  npcIds: readonly string[],
  { acceptAcknowledged, checkpoint, json }: AuditOptions,
): Promise<void> => {
  const notes = checkpoint === undefined ? null : await keptNotes(terminal, checkpoint);
  const request = await openClient(terminal);
  const kept = notes && (await keptOfServer(request, notes)).checkpoint;
  const { events, broken, open, log } = await auditPages(terminal, request, npcIds, json === true);
  const reason = kept === null ? null : await keptReason(request, kept);
  const found = `${counted(broken, 'problem', 'problems')} in ${counted(events, 'event', 'events')} and the log`;
  const failures = [
    ...(reason === null ? [] : [`The log does not fit the kept checkpoint: ${reason}.`]),
    ...(open === 0 ? [] : [`The audit found ${found}. docs/operate/broken-chain.md says what to do.`]),
    ...(broken === 0 || open > 0 || acceptAcknowledged
      ? []
      : [`The audit found ${found}, each an acknowledged break. --accept-acknowledged does not count these.`]),
  ];
  if (log !== null) remarkUnpublished(terminal, log.handedOn);
  if (failures.length > 0) throw new JudgedNo(failures.join('\n'));
  if (log === null) throw new CommandFailed(NO_LOG);
  if (json) return;
  const extended = kept === null ? '' : ` The log extends the kept checkpoint of size ${String(kept.size)}.`;
  remark(
    terminal,
    broken > 0
      ? `The audit found ${found}, each an acknowledged break, which is accepted.${extended}`
      : `All intact: ${counted(events, 'event', 'events')} and the heads in the log of size ${String(log.size)}, signed at ${log.at}.${extended}`,
  );
};

/** `anima audit [npcId...]`: checks hash chains and the log; exit code 1 when something is broken, 3 when there is no log to compare with. */
export const auditCommand = (terminal: Terminal): Command =>
  new Command('audit')
    .description('check hash chains, and compare each head in the log with its stream; fail if anything is broken')
    .argument('[npcId...]', 'IDs of the NPCs (default: all NPCs)')
    .option('--accept-acknowledged', 'do not fail because of breaks that were acknowledged')
    .option('--checkpoint <file>', 'require that the log extends this earlier checkpoint')
    .addOption(jsonOption('page'))
    .addHelpText('after', examples('audit', 'audit mira odo', 'audit --checkpoint checkpoint.note'))
    .action(judging((npcIds: readonly string[], options: AuditOptions) => audit(terminal, npcIds, options)));
