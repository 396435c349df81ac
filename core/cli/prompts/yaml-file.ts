import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { type Document, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { isUnknownKey, pathOf, reasonOf } from '../../contract/values/errors/input-issues.ts';

/** An error at a line of a file. */
export class FileError extends Error {
  constructor(path: string, line: number, reason: string) {
    super(`${path}:${line}: ${reason}`);
    this.name = 'FileError';
  }
}

/** A file with its lines. */
export interface YamlFile<Content> {
  readonly path: string;
  readonly content: Content;
  /** The line of a member, or of its closest parent that exists. `line` counts lines of a text, from 1. */
  lineOf(keys: readonly (string | number)[], line?: number): number;
}

/** Reads a YAML file. `shown` is its path in messages. Throws FileError with the line of the first issue. */
export async function readYamlFile<Content>(
  path: string,
  shown: string,
  schema: v.GenericSchema<unknown, Content>,
): Promise<YamlFile<Content>> {
  const lines = new LineCounter();
  const document = parseDocument(await readFile(path, 'utf8'), { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw new FileError(shown, lines.linePos(error.pos[0]).line, error.message);
  const lineOf = (keys: readonly (string | number)[], line = 1) => lineIn(document, lines, keys, line);
  const parsed = v.safeParse(schema, document.toJS());
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const keys = (issue.path ?? []).map(({ key }) => key as string | number);
    throw new FileError(
      shown,
      lineOf(keys),
      `${pathOf(issue, 'file')}: ${isUnknownKey(issue) ? 'unknown member' : reasonOf(issue)}`,
    );
  }
  return { path: shown, content: parsed.output, lineOf };
}

function lineIn(document: Document, lines: LineCounter, keys: readonly (string | number)[], line: number): number {
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = document.getIn(keys.slice(0, depth), true);
    if (!isNode(node) || !node.range) continue;
    const start = lines.linePos(node.range[0]).line;
    // The text of a block begins in the line behind its header; the lines of other texts are not those of the file.
    const isBlock = isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
    return isBlock ? start + line : start;
  }
  return 1;
}
