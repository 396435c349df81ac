import * as v from 'valibot';
import { issueText, pathOf } from '../../../core/contract/values/errors/input-issues.ts';
import { hasTooManyValues, tooManyValues } from '../../../core/contract/values/json/line-limits.ts';
import { lineTooLong, textLines } from '../../../core/contract/values/text/text-lines.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readFileBytes } from '../files/file-bytes.ts';
import type { Batch, BatchIssue } from './entity.ts';
import { batchLine } from './schema.ts';

/** Maximum number of requests in one batch. */
const linesMax = 50_000;
/** Reading 256 KiB of empty lines takes a tenth of a second, in which no other request is served. */
const blankLinesMax = 50_000;
const lineCharactersMax = 33_554_432;
const issuesMax = 20;
const groupLines = 200;
const groupBytes = 512 * 1024;

interface Line {
  readonly line_number: number;
  readonly custom_id: string;
  readonly url: string;
  readonly body: string;
}

/**
 * Splits the input file into rows; running it again adds no duplicates. Resolves with the number of lines, or with the error of
 * the file, in which case no line is run.
 */
export async function readLines(
  newManager: () => EntityManager,
  batch: Batch,
  signal: AbortSignal,
): Promise<{ readonly total: number; readonly issues: readonly BatchIssue[] }> {
  const issues: BatchIssue[] = [];
  const seen = new Set<string>();
  let group: Line[] = [];
  let held = 0;
  let total = 0;
  let number = 0;

  const bytes = readFileBytes(newManager, { id: batch.inputFileId, organisationId: batch.organisationId });
  for await (const text of textLines(bytes, lineCharactersMax)) {
    signal.throwIfAborted();
    number++;
    if (text === lineTooLong) {
      issues.push({
        code: 'line_too_long',
        line: number,
        message: `A line can have at most ${lineCharactersMax} characters`,
        param: null,
      });
      total++;
      break;
    }
    if (number > blankLinesMax + linesMax) {
      issues.push({
        code: 'too_many_tasks',
        line: number,
        message: `The file has more than ${blankLinesMax} empty lines`,
        param: null,
      });
      break;
    }
    if (text.trim() === '') continue;
    total++;
    if (total > linesMax) {
      issues.push({
        code: 'too_many_tasks',
        line: number,
        message: `A batch can have at most ${linesMax} requests`,
        param: null,
      });
      break;
    }
    const line = parseLine(text, number, batch, seen);
    if ('code' in line) {
      issues.push(line);
      if (issues.length >= issuesMax) break;
      continue;
    }
    if (issues.length > 0) continue;
    group.push(line);
    held += line.body.length;
    if (group.length >= groupLines || held >= groupBytes) {
      await insert(newManager(), batch, group);
      group = [];
      held = 0;
    }
  }
  if (total === 0)
    issues.push({ code: 'empty_file', line: null, message: 'The input file has no requests', param: 'input_file_id' });
  if (issues.length === 0 && group.length > 0) await insert(newManager(), batch, group);
  return { total, issues };
}

function parseLine(text: string, number: number, batch: Batch, seen: Set<string>): Line | BatchIssue {
  const issue = (code: string, message: string, param: string | null = null): BatchIssue => ({
    code,
    line: number,
    message,
    param,
  });
  if (hasTooManyValues(text)) return issue('invalid_request', `line: ${tooManyValues}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return issue('invalid_json_line', 'This line is not valid JSON');
  }
  const parsed = v.safeParse(batchLine, value);
  if (!parsed.success) {
    const [first] = parsed.issues;
    return issue('invalid_request', issueText(first, 'line'), pathOf(first, '') || null);
  }
  const { custom_id: customId, url, body } = parsed.output;
  if (url !== batch.endpoint)
    return issue('mismatched_endpoint', `url: expected ${batch.endpoint}, the endpoint of the batch`, 'url');
  if (body.stream === true) return issue('invalid_request', 'body.stream: not supported in batches. Remove it', 'body.stream');
  if (customId.includes('\0') || /\p{Surrogate}/u.test(customId)) {
    return issue('invalid_request', 'custom_id: contains U+0000 or half a surrogate pair', 'custom_id');
  }
  if (seen.has(customId)) return issue('duplicate_custom_id', 'custom_id: not unique in the file', 'custom_id');
  seen.add(customId);
  try {
    return { line_number: number, custom_id: customId, url, body: JSON.stringify(body) };
  } catch {
    // The parser accepts any depth, but writing the value does not.
    return issue('invalid_request', 'body: nested too deeply', 'body');
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
