import { describe, expect, it } from 'vitest';
import { hasTooManyValues } from '../../../../core/contract/values/json/line-limits.ts';
import { readBatchRequests, readJsonLines } from '../../../../core/formats/stored/batch-lines.ts';

async function* fileOf(...lines: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}

async function all<Line>(lines: AsyncIterable<Line>): Promise<Line[]> {
  const found: Line[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

describe('lines of batches', () => {
  const request = (body: string) => `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":${body}}`;
  const many = request(`{"x":[${'{},'.repeat(400_000)}{}]}`);

  it('are not parsed if they have more objects than a request could have', async () => {
    const read = readBatchRequests(fileOf(request('{}'), many), { adapted: [] });
    expect((await read.next()).value).toMatchObject({ customId: 'a', body: {} });
    await expect(read.next()).rejects.toThrow('input_file_id: too many values');
    await expect(all(readJsonLines(fileOf(many)))).rejects.toThrow('too many values');
  });

  it('may have the embeddings of many texts', () => {
    expect(hasTooManyValues(`{"data":[${'[0.1,0.2,0.3],'.repeat(300_000)}[]]}`)).toBe(false);
    expect(hasTooManyValues(`[${'0,'.repeat(9_000_000)}0]`)).toBe(true);
    expect(hasTooManyValues(JSON.stringify({ text: '[{},'.repeat(9_000_000) }))).toBe(false);
  });
});
