import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from '../until.ts';

export interface Letter {
  readonly from: string;
  readonly to: readonly string[];
  /** With its headers. Long lines are joined again. */
  readonly text: string;
}

export interface FakeMailServer {
  readonly port: number;
  readonly letters: readonly Letter[];
  /** The largest number of connections at the same time. */
  readonly connectionsPeak: number;
  lettersTo(address: string): Letter[];
  /** Waits for the letter with this number, counted from 1, to an address. */
  arrived(address: string, number?: number): Promise<Letter>;
  close(): Promise<void>;
}

/** Starts a mail server that accepts every letter, with or without the user `us@er` and the password `pa:ss`. `options` change that. */
export async function startFakeMailServer(options: SMTPServerOptions = {}): Promise<FakeMailServer> {
  const letters: Letter[] = [];
  let connectionsPeak = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      done(username === 'us@er' && password === 'pa:ss' ? null : new Error('no'), { user: username }),
    onConnect(_session, done) {
      connectionsPeak = Math.max(connectionsPeak, server.connections.size);
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        // Long lines arrive as quoted-printable.
        const text = Buffer.concat(chunks).toString().replace(/=\r\n/g, '').replace(/=3D/g, '=');
        letters.push({ from, to: rcptTo.map((one) => one.address), text });
        done();
      });
    },
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const lettersTo = (address: string) => letters.filter((letter) => letter.to.includes(address));
  return {
    port: (server.server.address() as AddressInfo).port,
    letters,
    get connectionsPeak() {
      return connectionsPeak;
    },
    lettersTo,
    arrived: async (address, number = 1) => {
      await until(() => lettersTo(address).length >= number, { what: `letter ${number} to ${address}` });
      return lettersTo(address)[number - 1] as Letter;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
