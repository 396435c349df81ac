import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { freePort } from '../../support/processes/free-port.ts';

const stored = (name: string): string => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url));

describe.each(uwsBinaries)('certificate reload on %s', (binary) => {
  let edge: Edge;
  let folder: string;
  const cert = () => join(folder, 'cert.pem');
  const key = () => join(folder, 'key.pem');
  const sockets: TLSSocket[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tls-'));
    copyFileSync(stored('cert'), cert());
    copyFileSync(stored('key'), key());
    const settings = { tlsCert: cert(), tlsKey: key() };
    edge = await startEdge(binary, undefined, { settings, port: await freePort() });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    edge.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(): Promise<TLSSocket> {
    const socket = connect({ port: edge.port, host: '127.0.0.1', rejectUnauthorized: false });
    sockets.push(socket);
    await once(socket, 'secureConnect');
    return socket;
  }

  async function ask(socket: TLSSocket): Promise<string> {
    socket.write('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n');
    const [reply] = (await once(socket, 'data')) as [Buffer];
    return reply.toString('latin1');
  }

  const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN;

  it('serves the new certificate to new connections and leaves open connections unchanged', async () => {
    const before = await open();
    expect(nameOf(before)).toBe('localhost');
    copyFileSync(stored('clouds-cert'), cert());
    copyFileSync(stored('clouds-key'), key());
    expect(await edge.server.reloadTls()).toBe(true);
    for (let i = 0; i < 5; i++) expect(nameOf(await open())).toBe('clouds.test');
    expect(await ask(before)).toMatch(/^HTTP\/1\.1 200/);
    expect(await ask(await open())).toMatch(/^HTTP\/1\.1 200/);
    // Again, with connections of both certificates open; a drain waits for all of them.
    expect(await edge.server.reloadTls()).toBe(true);
    expect(edge.server.connections).toBe(sockets.length);
    expect(nameOf(await open())).toBe('clouds.test');
  });

  it('accepts connections that wait at the listener of the old certificate', async () => {
    const waiting = open();
    // The socket connects in the next tick, and the addon accepts connections only after this turn of the event loop.
    await new Promise((resolve) => process.nextTick(resolve));
    expect(await edge.server.reloadTls()).toBe(true);
    expect(await ask(await waiting)).toMatch(/^HTTP\/1\.1 200/);
  });

  it('does not listen again if it stops during a reload', async () => {
    const reload = edge.server.reloadTls();
    const drained = edge.server.drain(60_000);
    expect(await reload).toBe(false);
    await expect(open()).rejects.toThrow();
    expect(await drained).toBe(0);
  });

  it('closes connections of earlier certificates too when the server closes', async () => {
    const before = await open();
    expect(await edge.server.reloadTls()).toBe(true);
    const closed = once(before, 'close');
    edge.server.close();
    await closed;
    expect(edge.server.connections).toBe(0);
  });

  it('keeps the old certificate and names the error if the files do not match', async () => {
    copyFileSync(stored('clouds-cert'), cert());
    await expect(edge.server.reloadTls()).rejects.toThrow(
      `TLS_CERT, TLS_KEY: the key in ${key()} does not belong to the certificate in ${cert()}`,
    );
    writeFileSync(key(), 'no key');
    await expect(edge.server.reloadTls()).rejects.toThrow(`TLS_KEY: ${key()} cannot be read as a PEM private key`);
    expect(nameOf(await open())).toBe('localhost');
  });

  it('does nothing without TLS', async () => {
    const plain = await startEdge(binary);
    expect(await plain.server.reloadTls()).toBe(false);
    plain.close();
  });
});
