import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { requireChannelBinding } from '../../../admin/db/require-channel-binding.ts';

class FakeClient {
  readonly stream = { isDestroyed: false, destroy: () => (this.stream.isDestroyed = true) };
  readonly connection = Object.assign(new EventEmitter(), { stream: this.stream });
}

type Event = readonly [name: string, message?: object];
const bound: Event = ['authenticationSASL', { mechanisms: ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'] }];

/** Returns the error of a connection on which the server sends these messages. */
function errorAfter(...events: readonly Event[]): string | null {
  const pool = { Client: FakeClient };
  requireChannelBinding(pool);
  const { connection, stream } = new pool.Client();
  let found: string | null = null;
  connection.on('error', (error: Error) => {
    found ??= error.message;
    expect(stream.isDestroyed).toBe(true);
  });
  for (const [name, message] of events) connection.emit(name, message);
  return found;
}

describe('requireChannelBinding', () => {
  it('accepts a server that proves the binding', () => {
    expect(errorAfter(bound, ['authenticationSASLFinal'], ['authenticationOk'])).toBeNull();
  });

  it.each<[string, readonly Event[]]>([
    ['offers SCRAM without binding', [['authenticationSASL', { mechanisms: ['SCRAM-SHA-256'] }]]],
    ['asks for the password', [['authenticationCleartextPassword']]],
    ['asks for a digest of the password', [['authenticationMD5Password']]],
    ['requires no authentication', [['authenticationOk']]],
    ['ends the exchange without a proof', [bound, ['authenticationOk']]],
  ])('refuses a server that %s', (_what, events) => {
    expect(errorAfter(...events)).toMatch(/^DATABASE_URL: channel_binding=require: /);
  });
});
