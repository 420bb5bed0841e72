// What a scenario works with. Everything random comes from here, so that it can be replaced in the result.
import { randomBytes, randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { describeError, Placeholders } from './normalise.mjs';
import { startProxy, startTunnel } from './proxy.mjs';

export const CREDENTIALS = { username: 'admin', password: 'changeit' };
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const withOptions = (url, options) => {
  const query = Object.entries(options).map(([key, value]) => `${key}=${value}`).join('&');
  if (!query) return url;
  return url + (url.includes('?') ? '&' : '?') + query;
};

export class Context {
  placeholders = new Placeholders();
  #cleanups = [];
  #clients = [];
  #ids = new Map();
  #default;

  constructor(pkg, url, patience = 1) {
    this.pkg = pkg;
    this.patience = patience;
    this.esdb = pkg.esdb;
    this.url = url;
  }

  // --- clients -----------------------------------------------------------------------------------------------

  /** The scenario's own client; made on first use, disposed at the end. */
  get client() {
    return (this.#default ??= this.newClient());
  }

  newClient(options = {}, url = this.url) {
    const client = this.esdb.EventStoreDBClient.connectionString(withOptions(url, options));
    this.#clients.push(client);
    return client;
  }

  async proxy(rules) {
    const target = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/?,]+)/.exec(this.url)[1];
    const proxy = await startProxy(this.pkg, target, rules);
    this.defer(() => proxy.close());
    return proxy;
  }

  async tunnel(url = this.url) {
    const tunnel = await startTunnel(url);
    this.defer(() => tunnel.close());
    return tunnel;
  }

  /** The address of a port on which nothing listens. */
  async deadUrl() {
    const port = await new Promise((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const { port: free } = server.address();
        server.close(() => resolve(free));
      });
    });
    return `esdb://127.0.0.1:${port}?tls=false`;
  }

  sleep(ms) {
    return sleep(ms);
  }

  // --- names, ids, events ------------------------------------------------------------------------------------

  /** A unique name; in the result `label` replaces it. */
  name(label = 's') {
    return this.placeholders.add(`cf${randomBytes(8).toString('hex')}`, label);
  }

  /** The id labelled `label` in this scenario: the same label gives the same id. */
  id(label) {
    if (!this.#ids.has(label)) this.#ids.set(label, this.placeholders.add(randomUUID(), `id:${label}`));
    return this.#ids.get(label);
  }

  event(label, options = {}) {
    return this.esdb.jsonEvent({ id: this.id(label), type: 'happened', data: { label }, ...options });
  }

  events(...labels) {
    return labels.map((label) => this.event(label));
  }

  binary(label, data, options = {}) {
    return this.esdb.binaryEvent({ id: this.id(label), type: 'happened', data, ...options });
  }

  /** A link to event `revision` of `stream`, as projections write them. */
  link(label, stream, revision) {
    return this.binary(label, Buffer.from(`${revision}@${stream}`), { type: '$>' });
  }

  /** n events with new ids and data {n}. */
  series(count, from = 0, options = {}) {
    return Array.from({ length: count }, (_, index) => this.esdb.jsonEvent({ type: 'happened', data: { n: from + index }, ...options }));
  }

  // --- asking ------------------------------------------------------------------------------------------------

  /** The value, or {error}. */
  async try(action) {
    try {
      return await action();
    } catch (error) {
      return { error: describeError(error) };
    }
  }

  append(stream, events, options = {}, client = this.client) {
    return this.try(() => client.appendToStream(stream, events, options));
  }

  /** Runs the scenario over both ways in which the client appends: one shared batch stream, and one call per append (credentials given). */
  async bothPaths(run) {
    return { batch: await run({}, 'batch'), unary: await run({ credentials: CREDENTIALS }, 'unary') };
  }

  /** All events of a read in short form, or {error} with the events before it. */
  async read(stream, options = {}, client = this.client) {
    return this.drain(() => client.readStream(stream, options));
  }

  async readAll(options = {}, client = this.client) {
    return this.drain(() => client.readAll(options));
  }

  async drain(open, keep = brief) {
    const events = [];
    try {
      for await (const resolved of open()) events.push(keep(resolved));
      return events;
    } catch (error) {
      return events.length > 0 ? { events, error: describeError(error) } : { error: describeError(error) };
    }
  }

  /** Retries until the answer satisfies `good`, for at most `ms`; returns the last answer. For effects that a server shows shortly after its answer. */
  async eventually(ask, good, ms = 1500) {
    const until = Date.now() + ms;
    for (;;) {
      const answer = await ask();
      if (good(answer) || Date.now() > until) return answer;
      await sleep(5);
    }
  }

  /** The log position of the server's newest event; everything appended later is beyond it. */
  async head(client = this.client) {
    let newest;
    for await (const { event, link } of client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 })) newest = link ?? event;
    if (!newest) throw new Error('the server has no events at all');
    return newest.position;
  }

  /** Everything in $all beyond `position` that belongs to `streams` (and their metadata streams), in short form with the stream's name. */
  async since(position, streams, client = this.client) {
    const own = new Set(streams.flatMap((stream) => [stream, `$$${stream}`]));
    const out = [];
    for await (const resolved of client.readAll({ fromPosition: position })) {
      const { event } = resolved;
      if (event && own.has(event.streamId) && event.position.commit > position.commit) out.push({ stream: event.streamId, ...brief(resolved) });
    }
    return out;
  }

  /** Records what a subscription does, in order. */
  watch(subscription, keep = brief) {
    return new Watch(subscription, keep);
  }

  /** Runs a small program that uses the client in its own process. `client`, `esdb` and `stream` are in scope. */
  child(source, { stream = this.name('child stream'), url = this.url, killAfter = 4000 } = {}) {
    const program = `
      import { createRequire } from 'node:module';
      const require = createRequire(${JSON.stringify(this.pkg.dir + '/package.json')});
      const esdb = require('@eventstore/db-client');
      const stream = ${JSON.stringify(stream)};
      const client = esdb.EventStoreDBClient.connectionString(${JSON.stringify(url)});
      const event = (data = {}, more = {}) => esdb.jsonEvent({ type: 'happened', data, ...more });
      const say = (word) => process.stdout.write(word + '\\n');
      ${source}`;
    return new Promise((resolve) => {
      const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      let complained = '';
      let alive = false;
      child.stdout.on('data', (chunk) => (said += chunk));
      child.stderr.on('data', (chunk) => (complained += chunk));
      const timer = setTimeout(() => ((alive = true), child.kill('SIGKILL')), killAfter * this.patience);
      child.on('close', (code) => {
        clearTimeout(timer);
        const thrown = /^(?:\w*Error)\b[^\n]*/m.exec(complained)?.[0];
        const out = { said: said.split('\n').filter(Boolean), exit: alive ? 'still running, had to be killed' : code };
        if (code && thrown) out.thrown = thrown.replace(/\s*\[.*$/, '');
        resolve(out);
      });
    });
  }

  defer(cleanup) {
    this.#cleanups.push(cleanup);
  }

  async close() {
    for (const cleanup of this.#cleanups.reverse()) await Promise.race([Promise.resolve().then(cleanup).catch(() => {}), sleep(500)]);
    const shut = async (client) => {
      await client.dispose();
      (await client.getChannel()).close();
    };
    await Promise.race([Promise.allSettled(this.#clients.map(shut)), sleep(1000)]);
  }
}

/** An event in the form that most scenarios want: its revision, and the label (or number, or type) that identifies it. */
export function brief({ event, link, commitPosition }) {
  const shown = event ?? link;
  if (!shown) return { commitPosition, event: 'absent' };
  const data = shown.data?.label ?? shown.data?.n ?? (shown.isJson ? shown.data : `type ${shown.type}`);
  const out = { revision: shown.revision, data };
  if (link) out.link = event ? { revision: link.revision } : 'target absent';
  return out;
}

class Watch {
  log = [];
  events = [];
  #wake = new Set();

  constructor(subscription, keep) {
    this.subscription = subscription;
    const note = (entry) => {
      this.log.push(entry);
      for (const wake of this.#wake) wake();
    };
    this.note = note;
    for (const name of ['confirmation', 'caughtUp', 'fellBehind', 'end', 'close']) subscription.on(name, () => note(name));
    subscription.on('error', (error) => note({ error: describeError(error) }));
    subscription.on('data', (resolved) => {
      this.events.push(resolved);
      note(keep(resolved));
    });
  }

  has(word) {
    return this.log.includes(word);
  }

  get error() {
    return this.log.find((entry) => entry?.error)?.error;
  }

  /** Waits until `condition(watch)` holds: true, or false after `ms`. */
  until(condition, ms = 3000) {
    return new Promise((resolve) => {
      const finish = (answer) => {
        clearTimeout(timer);
        this.#wake.delete(check);
        resolve(answer);
      };
      const check = () => condition(this) && finish(true);
      const timer = setTimeout(() => finish(false), ms);
      this.#wake.add(check);
      check();
    });
  }

  seen(word, ms) {
    return this.until((watch) => watch.has(word), ms);
  }

  count(events, ms) {
    return this.until((watch) => watch.events.length >= events, ms);
  }

  async stop() {
    const { subscription } = this;
    await (subscription.unsubscribe?.() ?? subscription.cancel?.());
  }
}
