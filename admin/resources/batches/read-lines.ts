import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import { readFileBytes } from '../files/file-bytes.ts';
import type { Batch, BatchFault } from './entity.ts';
import { batchLine } from './schema.ts';

/** Most requests in one batch. */
export const linesMax = 50_000;
const lineBytesMax = 33_554_432;
/** Stands for a line that is not read further: no line has a line's end in it. */
const tooLong = '\n';
const faultsMax = 20;
const groupLines = 200;
const groupBytes = 512 * 1024;

interface Line {
  readonly line_number: number;
  readonly custom_id: string;
  readonly url: string;
  readonly body: string;
}

/**
 * Takes the input file apart into rows; doing it again adds none a second time. Resolves with the number of lines, or with what is
 * wrong with the file: then no line of it is run.
 */
export async function readLines(
  newManager: () => EntityManager,
  batch: Batch,
  signal: AbortSignal,
): Promise<{ readonly total: number; readonly faults: readonly BatchFault[] }> {
  const faults: BatchFault[] = [];
  const seen = new Set<string>();
  let group: Line[] = [];
  let bytes = 0;
  let total = 0;
  let number = 0;

  for await (const text of linesOf(readFileBytes(newManager, { id: batch.inputFileId, organisationId: batch.organisationId }))) {
    signal.throwIfAborted();
    number++;
    if (text === tooLong) {
      faults.push({ code: 'line_too_long', line: number, message: `A line has at most ${lineBytesMax} characters`, param: null });
      total++;
      break;
    }
    if (text.trim() === '') continue;
    total++;
    if (total > linesMax) {
      faults.push({ code: 'too_many_tasks', line: number, message: `A batch has at most ${linesMax} requests`, param: null });
      break;
    }
    const line = parseLine(text, number, batch, seen);
    if ('code' in line) {
      faults.push(line);
      if (faults.length >= faultsMax) break;
      continue;
    }
    if (faults.length > 0) continue;
    group.push(line);
    bytes += line.body.length;
    if (group.length >= groupLines || bytes >= groupBytes) {
      await insert(newManager(), batch, group);
      group = [];
      bytes = 0;
    }
  }
  if (total === 0)
    faults.push({ code: 'empty_file', line: null, message: 'The input file has no requests', param: 'input_file_id' });
  if (faults.length === 0 && group.length > 0) await insert(newManager(), batch, group);
  return { total, faults };
}

function parseLine(text: string, number: number, batch: Batch, seen: Set<string>): Line | BatchFault {
  const fault = (code: string, message: string, param: string | null = null): BatchFault => ({
    code,
    line: number,
    message,
    param,
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault('invalid_json_line', 'This line is not valid JSON');
  }
  const parsed = v.safeParse(batchLine, value);
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0]) ?? null;
    return fault('invalid_request', `${path ?? 'line'}: ${parsed.issues[0].message}`, path);
  }
  const { custom_id: customId, url, body } = parsed.output;
  if (url !== batch.endpoint) return fault('mismatched_endpoint', `url: ${batch.endpoint} is expected, as the batch says`, 'url');
  if (body.stream === true) return fault('invalid_request', 'body.stream: replies of a batch do not stream', 'body.stream');
  if (customId.includes('\0') || /\p{Surrogate}/u.test(customId)) {
    return fault('invalid_request', 'custom_id: a zero character or half a character cannot be kept', 'custom_id');
  }
  if (seen.has(customId)) return fault('duplicate_custom_id', 'custom_id: another line of the file has it too', 'custom_id');
  seen.add(customId);
  try {
    return { line_number: number, custom_id: customId, url, body: JSON.stringify(body) };
  } catch {
    // Reading knows no depth, writing does.
    return fault('invalid_request', 'body: nested too deeply', 'body');
  }
}

async function insert(em: EntityManager, batch: Batch, lines: readonly Line[]): Promise<void> {
  await em.execute(
    `insert into batch_lines (batch_id, organisation_id, line_number, custom_id, url, body)
     select ?, ?, line_number, custom_id, url, body
     from jsonb_to_recordset(?::jsonb) as sent(line_number int, custom_id text, url text, body text)
     on conflict do nothing`,
    [batch.id, batch.organisationId, JSON.stringify(lines)],
  );
}

/** Lines of UTF-8 text, without their ends. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // In parts, so that a long line is put together once and not with every chunk.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [head, ...lines] = decoder.decode(chunk, { stream: true }).split('\n') as [string, ...string[]];
    parts.push(head);
    length += head.length;
    for (const next of lines) {
      yield parts.join('');
      parts = [next];
      length = next.length;
    }
    // A file of one endless line must not fill the memory.
    if (length > lineBytesMax) {
      yield tooLong;
      return;
    }
  }
  const rest = parts.join('') + decoder.decode();
  if (rest !== '') yield rest;
}
