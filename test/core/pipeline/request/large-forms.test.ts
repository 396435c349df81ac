import { expect, it } from 'vitest';
import { encodeForm, paramSteps, parseForm } from '../../../../core/pipeline/request/form-data.ts';

it('a large form is parsed in many turns of the event loop, also if its texts are not UTF-8', async () => {
  const field = (name: string, byte: number) => ({
    ...{ name, filename: null, contentType: null },
    body: Buffer.alloc(1_000_000, byte),
  });
  const parts = [
    ...Array.from({ length: 8 }, (_, i) => field(`valid${i}`, 0x61)),
    ...Array.from({ length: 8 }, (_, i) => field(`invalid${i}`, 0xff)),
  ];
  const { contentType, body } = encodeForm(parts);
  let turns = 0;
  let counting = setImmediate(function count() {
    turns++;
    counting = setImmediate(count);
  });
  const parsed = await parseForm(body as Uint8Array, contentType);
  clearImmediate(counting);
  expect(
    parsed.map(({ name, body }) => [name, Buffer.compare(body, parts.find((one) => one.name === name)?.body ?? body)]),
  ).toEqual(parts.map(({ name }) => [name, 0]));
  expect(turns).toBeGreaterThan(50);

  let steps = 1;
  const reading = paramSteps(parsed);
  while (reading.next().done !== true) steps++;
  expect(steps).toBeGreaterThan(10);
});

it('a large form is not read further after its client has left', async () => {
  const { contentType, body } = encodeForm([
    { name: 'file', filename: 'a.bin', contentType: null, body: Buffer.alloc(2_000_000, 0x61) },
  ]);
  let steps = 0;
  const leave = async <Result>(all: Generator<void, Result>): Promise<Result> => {
    for (; steps < 3; steps++) if (all.next().done === true) break;
    throw new Error('the client has left');
  };
  await expect(parseForm(body as Uint8Array, contentType, leave)).rejects.toThrow('the client has left');
  expect(steps).toBe(3);
});
