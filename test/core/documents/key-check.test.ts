import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { apiKeyPepperContext, sealKeyCheck } from '../../../core/contract/protocol/credentials/key-check.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import { startKeyCheck } from '../../../core/documents/key-check.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const encryptionKey = new Uint8Array(randomBytes(32));
const encryptionKeyPrevious = new Uint8Array(randomBytes(32));
const clusterKey = new Uint8Array(randomBytes(32));
const other = new Uint8Array(randomBytes(32));
const reply = (key: Uint8Array) => ({ encryption_key: sealKeyCheck('ENCRYPTION_KEY', key) });

/** A gateway's key check with a control plane that sends these replies in order, and then repeats the last one. */
async function start(...replies: (readonly [status: number, body: object] | 'away')[]) {
  let due: (() => void) | null = null;
  const log = newMemoryLog();
  const peppers: string[] = [];
  const check = await startKeyCheck({
    settings: { encryptionKey, encryptionKeyPrevious, clusterKey },
    keepApiKeyPepper: (pepper) => void peppers.push(Buffer.from(pepper).toString('hex')),
    log,
    timers: {
      after(_ms, callback) {
        due = callback;
        return () => {
          due = null;
        };
      },
    },
    fetch: async () => {
      const given = replies.length > 1 ? replies.shift() : replies[0];
      if (given === 'away' || !given) throw new Error('away');
      return { status: given[0], headers: [], body: Buffer.from(JSON.stringify(given[1])) };
    },
  });
  return {
    check,
    peppers,
    log,
    isWaiting: () => due !== null,
    again: async () => {
      due?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('startKeyCheck', () => {
  it('accepts the keys of the control plane, and stops asking', async () => {
    const { check, isWaiting, log } = await start([200, reply(encryptionKey)]);
    expect([check.issue(), check.blocks(), isWaiting(), log.lines]).toEqual([null, false, false, []]);
  });

  it('names ENCRYPTION_KEY and blocks requests until the key matches', async () => {
    const { check, again, log } = await start([200, reply(other)], [200, reply(encryptionKey)]);
    expect([check.issue(), check.blocks()]).toEqual([expect.stringMatching(/^ENCRYPTION_KEY: /), true]);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { reason: expect.stringMatching(/^ENCRYPTION_KEY/) } }]);
    await again();
    expect([check.issue(), check.blocks()]).toEqual([null, false]);
  });

  it('accepts either key while ENCRYPTION_KEY is replaced', async () => {
    const { check } = await start([200, reply(encryptionKeyPrevious)]);
    expect([check.issue(), check.blocks()]).toEqual([null, false]);
  });

  it('receives the pepper of API keys, and derives it from the key of the database if the control plane is older', async () => {
    const pepper = randomBytes(32);
    const sealed = seal(deriveKey(clusterKey, keyPurposes.transport), pepper, apiKeyPepperContext);
    const sent = await start([200, { ...reply(encryptionKey), api_key_pepper: sealed }]);
    expect(sent.peppers).toEqual([pepper.toString('hex')]);
    const older = await start([200, reply(encryptionKeyPrevious)]);
    expect(older.peppers).toEqual([Buffer.from(deriveKey(encryptionKeyPrevious, keyPurposes.apiKeyPepper)).toString('hex')]);
  });

  it('names CLUSTER_KEY and serves known documents', async () => {
    const { check } = await start([401, {}]);
    expect([check.issue(), check.blocks()]).toEqual([expect.stringMatching(/^CLUSTER_KEY: /), false]);
  });

  it('repeats the check while the control plane is away or returns errors', async () => {
    for (const response of ['away', [503, {}]] as const) {
      const { check, isWaiting, again } = await start(response, [200, reply(other)]);
      expect([check.issue(), isWaiting()]).toEqual([null, true]);
      await again();
      expect(check.blocks()).toBe(true);
      check.stop();
      expect(isWaiting()).toBe(false);
    }
  });

  it('treats a control plane without this route as matching', async () => {
    const { check, isWaiting } = await start([404, {}]);
    expect([check.issue(), isWaiting()]).toEqual([null, false]);
  });
});
