import { expect, it } from 'vitest';
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
