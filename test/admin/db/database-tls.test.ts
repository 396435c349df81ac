import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { StartError } from '../../../admin/start-error.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

const file = (name: string) => join(import.meta.dirname, '../../support/tls', name);
const certificate = { cert: readFileSync(file('cert.pem')), key: readFileSync(file('key.pem')) };

/** The request for TLS that a client of PostgreSQL sends first. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe.skipIf(postgresMissing !== null)('TLS to PostgreSQL', () => {
  let database: TestDatabase;
  let target: URL;
  let front: Server;
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
        const options = { isServer: true, ...certificate, requestCert: true, rejectUnauthorized: false };
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

  async function open(host: string, parameters: Record<string, string>): Promise<string[]> {
    seen = [];
    const url = new URL(target);
    url.host = `${host}:${(front.address() as AddressInfo).port}`;
    url.search = new URLSearchParams(parameters).toString();
    const settings = { databaseUrl: url.href, dbPoolSize: 1, dataDir: '' };
    const opened = await openDatabase(settings, { entities, migrations }, newMemoryLog());
    await opened.em().execute('select 1');
    await opened.close();
    return [...new Set(seen)];
  }

  it('is used if sslmode of DATABASE_URL requires it, for migrations and requests', async () => {
    expect(await open('127.0.0.1', { sslmode: 'require' })).toEqual(['encrypted']);
    expect(await open('localhost', { sslmode: 'verify-full', sslrootcert: file('cert.pem') })).toEqual(['encrypted']);
  });

  it('presents the certificate of sslcert and sslkey', async () => {
    const own = { sslrootcert: file('cert.pem'), sslcert: file('cert.pem'), sslkey: file('key.pem') };
    expect(await open('localhost', { sslmode: 'verify-full', ...own })).toEqual(['encrypted, with certificate']);
  });

  it('is refused if the certificate is not that of a known authority', async () => {
    await expect(open('localhost', { sslmode: 'verify-full' })).rejects.toThrow(/self-signed certificate/);
    await expect(open('localhost', { sslmode: 'verify-full', sslrootcert: file('clouds-cert.pem') })).rejects.toThrow(
      /certificate/,
    );
  });

  it('is refused if the certificate is that of another name or address', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: file('cert.pem') };
    await expect(open('127.0.0.2', parameters)).rejects.toThrow(/127\.0\.0\.2 is not in the cert's list/);
  });

  it('a file that cannot be read ends the start and names the setting', async () => {
    const opened = open('localhost', { sslmode: 'verify-full', sslrootcert: '/no/such/file.pem' });
    await expect(opened).rejects.toThrow(StartError);
    await expect(opened).rejects.toThrow(/^DATABASE_URL: .*\/no\/such\/file\.pem/);
  });
});
