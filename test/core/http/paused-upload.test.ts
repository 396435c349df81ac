import { describe, expect, it } from 'vitest';
import { BodyIntake } from '../../../core/contract/values/bodies/body-intake.ts';
import { UwsRequestBody } from '../../../core/http/request-body.ts';

/** A paused connection that still delivers, as the addon does while its read buffer is full. */
function newSource() {
  const told: string[] = [];
  return { told, pauseBody: () => void told.push('pause'), resumeBody: () => void told.push('resume') };
}

it('an upload that was complete before it was read leaves the connection readable', async () => {
  for (const read of ['bytes', 'pipe'] as const) {
    const source = newSource();
    const body = new UwsRequestBody(900_000, source, new BodyIntake());
    body.receive(new ArrayBuffer(300_000), false);
    body.receive(new ArrayBuffer(300_000), false);
    expect(source.told.at(-1)).toBe('pause');
    body.receive(new ArrayBuffer(300_000), true);
    expect(source.told.at(-1)).toBe('resume');
    const bytes =
      read === 'bytes'
        ? (await body.bytes(1_000_000)).length
        : await new Promise<number>((resolve, reject) => {
            let sum = 0;
            const onData = (chunk: Uint8Array) => {
              sum += chunk.length;
              return true;
            };
            body.pipe({ onData, onEnd: () => resolve(sum), onError: reject }, 1_000_000);
          });
    expect(bytes).toBe(900_000);
    expect(source.told.at(-1)).toBe('resume');
  }
});

describe('bytes that arrive before a reader', () => {
  const chunk = new ArrayBuffer(300_000);
  const arrived = (intake: BodyIntake): UwsRequestBody => {
    const body = new UwsRequestBody(900_000, newSource(), intake);
    body.receive(chunk, false);
    body.receive(chunk, false);
    return body;
  };

  it('fail their body with `overloaded` above the limit of the process', async () => {
    const intake = new BodyIntake(1_000_000);
    const first = arrived(intake);
    const second = arrived(intake);
    await expect(second.bytes(1_000_000)).rejects.toMatchObject({ code: 'overloaded' });
    const bytes = first.bytes(1_000_000);
    first.receive(chunk, true);
    expect((await bytes).length).toBe(900_000);
  });

  it.each<[string, (body: UwsRequestBody) => void]>([
    ['is read', (body) => void body.bytes(1_000_000)],
    ['is piped', (body) => void body.pipe({ onData: () => true, onEnd: () => {}, onError: () => {} }, 1_000_000)],
    ['is discarded', (body) => body.discard()],
    ['is aborted', (body) => body.abort()],
    [
      'has arrived and its reply ends',
      (body) => {
        body.receive(new ArrayBuffer(1), true);
        body.dropUnread();
      },
    ],
  ])('count no longer when their body %s', (_how, end) => {
    const intake = new BodyIntake(700_000);
    end(arrived(intake));
    intake.storeUnread(700_000);
    expect(() => intake.storeUnread(1)).toThrow('BODY_MEMORY_MAX');
  });

  it('do not count once a reply has ended without a reader', () => {
    const intake = new BodyIntake(700_000);
    const body = arrived(intake);
    body.dropUnread();
    body.receive(chunk, true);
    intake.storeUnread(700_000);
  });
});
