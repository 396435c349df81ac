import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { optionsOfUrl } from '../../../admin/db/database-url.ts';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { failureFields } from '../../../admin/failure-fields.ts';
import { StartError } from '../../../admin/start-error.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

const file = (name: string) => join(import.meta.dirname, '../../support/tls', name);
const certificate = { cert: readFileSync(file('cert.pem')), key: readFileSync(file('key.pem')) };
const otherCertificate = { cert: readFileSync(file('clouds-cert.pem')), key: readFileSync(file('clouds-key.pem')) };

/** The request for TLS that a client of PostgreSQL sends first. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe.skipIf(postgresMissing !== null)('TLS to PostgreSQL', () => {
  let database: TestDatabase;
  let target: URL;
  let front: Server;
  let served = certificate;
  /** For each connection: whether it is encrypted, and whether the client has a certificate. */
  let seen: string[] = [];
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    database = await newReadyDatabase();
    target = new URL(database.url);
    front = createServer((client) => {
      sockets.add(client.on('error', () => {}));
      client.once('data', (first) => {
        if (!first.equals(tlsRequest)) {
          seen.push('plain');
          client.destroy();
          return;
        }
        client.write('S');
        const options = { isServer: true, ...served, requestCert: true, rejectUnauthorized: false };
        const secure = new TLSSocket(client, options);
        secure.on('error', () => {});
        secure.once('secure', () => seen.push(secure.getPeerX509Certificate() ? 'encrypted, with certificate' : 'encrypted'));
        const server = connect(Number(target.port || 5432), target.hostname);
        server.on('error', () => secure.destroy());
        secure.pipe(server).pipe(secure);
      });
    });
    await once(front.listen(0), 'listening');
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await once(front.close(), 'close');
    await database.drop();
  });

  function connectTo(host: string, parameters: Record<string, string>): Promise<Database> {
    const url = new URL(target);
    url.host = `${host}:${(front.address() as AddressInfo).port}`;
    url.search = new URLSearchParams(parameters).toString();
    const settings = { databaseUrl: url.href, dbPoolSize: 1, dataDir: '' };
    return openDatabase(settings, { entities, migrations }, newMemoryLog());
  }

  async function open(host: string, parameters: Record<string, string>): Promise<string[]> {
    seen = [];
    const opened = await connectTo(host, parameters);
    await opened.em().execute('select 1');
    await opened.close();
    return [...new Set(seen)];
  }

  it('is used if sslmode of DATABASE_URL requires it, for migrations and requests', async () => {
    expect(await open('127.0.0.1', { sslmode: 'require' })).toEqual(['encrypted']);
    expect(await open('localhost', { sslmode: 'verify-full', sslrootcert: file('cert.pem') })).toEqual(['encrypted']);
    expect(await open('localhost', { ssl: 'true', sslrootcert: file('cert.pem') })).toEqual(['encrypted']);
  });

  it('connects to an IPv6 address', async () => {
    expect(await open('[::1]', { sslmode: 'require' })).toEqual(['encrypted']);
  });

  it('presents the certificate of sslcert and sslkey', async () => {
    const own = { sslrootcert: file('cert.pem'), sslcert: file('cert.pem'), sslkey: file('key.pem') };
    expect(await open('localhost', { sslmode: 'verify-full', ...own })).toEqual(['encrypted, with certificate']);
  });

  it('is refused if the certificate is not that of a known authority', async () => {
    await expect(open('localhost', { sslmode: 'verify-full' })).rejects.toThrow(/self-signed certificate/);
    await expect(open('localhost', { ssl: 'true' })).rejects.toThrow(/self-signed certificate/);
    await expect(open('localhost', { sslrootcert: 'system' })).rejects.toThrow(/self-signed certificate/);
    await expect(open('localhost', { sslmode: 'verify-full', sslrootcert: file('clouds-cert.pem') })).rejects.toThrow(
      /certificate/,
    );
  });

  it('is refused if the certificate is that of another name or address', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: file('cert.pem') };
    await expect(open('127.0.0.2', parameters)).rejects.toThrow(/127\.0\.0\.2 is not in the cert's list/);
  });

  it('counts as unreachable and is logged with its reason if the server gets a certificate of another authority', async () => {
    const opened = await connectTo('localhost', { sslmode: 'verify-full', sslrootcert: file('cert.pem') });
    served = otherCertificate;
    for (const socket of sockets) socket.destroy();
    const thrown = await vi.waitFor(async () => {
      const error = await opened
        .em()
        .execute('select 1')
        .catch((reason: unknown) => reason);
      expect(String(error)).toContain('certificate');
      return error;
    });
    expect(failureFields(thrown)).toMatchObject({
      reason: expect.stringMatching(/^the connection to the database is not secure \(\w*CERT\w*\)\. .* DATABASE_URL$/),
      error: { databaseAway: true },
    });
    served = certificate;
    await opened.em().execute('select 1');
    await opened.close();
  });

  it('a file that cannot be read ends the start and names the setting', async () => {
    const opened = open('localhost', { sslmode: 'verify-full', sslrootcert: '/no/such/file.pem' });
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(/^DATABASE_URL: sslrootcert: .*\/no\/such\/file\.pem/);
  });
});

describe.skipIf(postgresMissing !== null)('parameters of DATABASE_URL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await newReadyDatabase();
  });
  afterAll(() => database.drop());

  async function open(parameters: Record<string, string>, host: string | null = null) {
    const url = new URL(database.url);
    if (host !== null) url.hostname = host;
    url.search = new URLSearchParams(parameters).toString();
    const settings = { databaseUrl: url.href, dbPoolSize: 1, dataDir: '' };
    return openDatabase(settings, { entities, migrations }, newMemoryLog());
  }

  async function show(parameters: Record<string, string>, name: string, host: string | null = null): Promise<unknown> {
    const opened = await open(parameters, host);
    const [row] = await opened.em().execute<[Record<string, unknown>]>(`show ${name}`);
    await opened.close();
    return row[name];
  }

  it('application_name and options take effect', async () => {
    expect(await show({}, 'application_name')).toBe('svc-control-plane');
    expect(await show({ application_name: 'eu-1' }, 'application_name')).toBe('eu-1');
    expect(await show({ options: '-c work_mem=7MB' }, 'work_mem')).toBe('7MB');
  });

  it('parameters that state the default are accepted', async () => {
    expect(await show({ schema: 'public', channel_binding: 'prefer' }, 'application_name')).toBe('svc-control-plane');
  });

  it('channel_binding=require refuses a server that offers none', async () => {
    const opened = open({ channel_binding: 'require' });
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(/channel_binding=require: the server offers no channel binding/);
  });

  it('host names the directory of a Unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pg-'));
    const target = new URL(database.url);
    let connections = 0;
    const front = createServer((client) => {
      connections++;
      const server = connect(Number(target.port || 5432), target.hostname);
      server
        .on('error', () => client.destroy())
        .pipe(client.on('error', () => server.destroy()))
        .pipe(server);
    });
    await once(front.listen(join(directory, `.s.PGSQL.${target.port || 5432}`)), 'listening');
    expect(await show({ host: directory, sslmode: 'require' }, 'application_name', 'unused.invalid')).toBe('svc-control-plane');
    expect(connections).toBeGreaterThan(0);
    await once(front.close(), 'close');
    rmSync(directory, { recursive: true });
  });

  it.each([
    [{ target_session_attrs: 'read-write' }, /parameter target_session_attrs is not supported.*supported are application_name/],
    [{ connect_timeout: '10' }, /parameter connect_timeout is not supported/],
    [{ schema: 'other' }, /schema: got "other", expected one of public/],
    [{ ssl: '1' }, /ssl: got "1", expected one of true/],
    [{ sslmode: 'require', sslrootcert: 'system' }, /sslrootcert=system: expected sslmode=verify-full/],
    [{ sslmode: 'verify_full' }, /sslmode: got "verify_full", expected one of disable, prefer, require, verify-ca, verify-full/],
    [{ host: 'a.invalid,b.invalid' }, /expected one host/],
  ])('%o is refused, because it would have no effect', async (parameters, message) => {
    const opened = open(parameters);
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(message);
  });

  it('a parameter given twice is refused', async () => {
    const settings = { databaseUrl: `${database.url}?sslmode=verify-full&sslmode=disable`, dbPoolSize: 1, dataDir: '' };
    await expect(openDatabase(settings, { entities, migrations }, newMemoryLog())).rejects.toThrow(/sslmode: expected once/);
  });

  it('a password with a % that begins no escape is refused without repeating it', async () => {
    const databaseUrl = database.url.replace(/\/\/[^@]*@/, '//me:pa%ss@');
    const opened = openDatabase({ databaseUrl, dbPoolSize: 1, dataDir: '' }, { entities, migrations }, newMemoryLog());
    await expect(opened).rejects.toThrow(/^DATABASE_URL: password: expected % to begin an escape such as %40\. Write %25 for %$/);
  });

  it('several hosts are refused', async () => {
    await expect(open({}, 'a.invalid,b.invalid')).rejects.toThrow(/^DATABASE_URL: expected one host/);
  });

  it.each([
    ['postgresql://postgres@127.0.0.1:5432', /^DATABASE_URL: expected the name of a database/],
    ['postgresql://postgres@127.0.0.1:5432/name#part', /^DATABASE_URL: unexpected #/],
    ['postgresql://postgres@127.0.0.1:5432/name%', /^DATABASE_URL: name of the database: expected %/],
  ])('%s is refused with its reason', (url, message) => {
    expect(() => optionsOfUrl(url)).toThrow(StartError);
    expect(() => optionsOfUrl(url)).toThrow(message);
  });

  it('an IPv6 address has no brackets for the driver', () => {
    expect(optionsOfUrl('postgresql://postgres@[::1]:5432/name').host).toBe('::1');
  });

  it('a server that is older than version 15 is refused', async () => {
    const query = "create function public.current_setting(text) returns text language sql as $$ select '14.9 (Debian 14.9)' $$";
    const opened = await open({});
    await opened.em().execute(query);
    await opened.close();
    const old = open({ options: '-c search_path=public,pg_catalog' });
    await expect(old).rejects.toThrow(StartError);
    await expect(old).rejects.toThrow(/the server is PostgreSQL 14\.9 \(Debian 14\.9\), expected 15 or newer/);
    const other = await open({});
    await other.em().execute('drop function public.current_setting(text)');
    await other.close();
  });

  it('a search_path that leads to another schema is refused', async () => {
    const opened = open({ options: '-c search_path=other' });
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(/the search_path of its user leads to no schema, expected public/);
  });

  it.each([
    ['-c DateStyle=SQL,DMY', 'DateStyle of its user is SQL, DMY, expected ISO'],
    [
      '-c default_transaction_isolation=serializable',
      'default_transaction_isolation of its user is serializable, expected read committed',
    ],
  ])('settings of the role that statements cannot work with are refused: %s', async (options, message) => {
    const opened = open({ options });
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(message);
    const other = await open({ options: '-c DateStyle=ISO,DMY -c default_transaction_isolation=read\\ uncommitted' });
    await other.close();
  });
});
