import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/processes/free-port.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlaneWith, testSettings } from '../support/plane.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

/** Requires a password in front of the test server, which requires none: the first messages of the protocol, then bytes. */
class PasswordGate {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  password: string;

  constructor(password: string, target: URL) {
    this.password = password;
    this.#server = createServer((client) => {
      this.#track(client);
      client.once('data', (startup) => {
        // AuthenticationCleartextPassword
        client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
        client.once('data', (message) => {
          if (message.subarray(5, -1).toString() !== this.password) {
            client.end(refusal);
            return;
          }
          const server = connect(Number(target.port), target.hostname);
          this.#track(server);
          server.write(startup);
          client.pipe(server).pipe(client);
        });
      });
    });
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.disconnect();
    this.#server.close();
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }
}

const fields = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0');
const refusal = Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]);

if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('a new password of PostgreSQL in the file of DATABASE_URL', () => {
  let database: TestDatabase;
  let gate: PasswordGate;
  let plane: Plane;
  let folder: string;
  let file: string;
  let urlWith: (password: string) => string;
  beforeAll(async () => {
    database = await newReadyDatabase();
    const target = new URL(database.url);
    const port = await freePort();
    urlWith = (password) => Object.assign(new URL(database.url), { host: `127.0.0.1:${port}`, password }).href;
    gate = new PasswordGate('planted-one', target);
    await gate.listen(port);
    folder = await mkdtemp(join(tmpdir(), 'svc-password-'));
    file = join(folder, 'database-url');
    await writeFile(file, `${urlWith('planted-one')}\n`);
    const env = { DATABASE_URL: urlWith('planted-one'), DATABASE_URL_FILE: file };
    plane = await startPlaneWith(testSettings(join(folder, 'data'), env));
  });
  afterAll(async () => {
    await plane?.close();
    gate?.close();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Closes every connection, and waits until the service has noticed and works with new ones. */
  async function worksAgain(): Promise<void> {
    gate.disconnect();
    await until(async () => (await plane.ask('GET', '/configs')).status === 200, { what: 'new connections to the database' });
  }
  const messages = () => plane.log.lines.map(({ message }) => message).filter((message) => message.includes('password'));

  it('may be in the file before the server has it, and is used from then on', async () => {
    expect((await plane.ask('GET', '/configs')).status).toBe(200);
    await writeFile(file, urlWith('planted-two'));
    await worksAgain();
    expect(messages()).toEqual([expect.stringContaining('does not accept the new password in DATABASE_URL_FILE yet')]);
    gate.password = 'planted-two';
    await worksAgain();
    expect(messages()).toEqual([expect.anything(), 'PostgreSQL accepts the new password in DATABASE_URL_FILE']);
  });

  it('ends the outage without a restart if the server has it first', async () => {
    gate.password = 'planted%three';
    gate.disconnect();
    await until(async () => (await plane.ask('GET', '/configs')).status === 503, { what: 'refused connections' });
    await writeFile(file, urlWith('planted%25three'));
    await until(async () => (await plane.ask('GET', '/configs')).status === 200, { what: 'connections with the new password' });
  });

  it('keeps the password in use if the file is not usable, and logs none of them', async () => {
    for (const text of ['', 'postgresql://user@host/db', 'planted-nonsense']) {
      await writeFile(file, text);
      await worksAgain();
    }
    await rm(file);
    await worksAgain();
    expect(JSON.stringify(plane.log.lines)).not.toContain('planted');
  });
});
