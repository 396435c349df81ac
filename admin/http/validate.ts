import * as v from 'valibot';
import { pathOf } from '../../core/contract/gateway-config.ts';
import { AdminError } from './errors.ts';

/**
 * The schema's output, or AB01 with one `path: what is wrong` per fault. `root` names the input as a whole, `prefix` stands
 * before each path inside it. Values stay out of the texts: they may be secrets.
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  root: string,
  prefix = '',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (result.success) return result.output;
  const errors = result.issues.slice(0, 50).map((issue) => faultOf(issue, root, prefix));
  throw new AdminError('AB01', errors[0] ?? `${root}: not valid`, errors);
}

function faultOf(issue: v.BaseIssue<unknown>, root: string, prefix: string): string {
  const path = issue.path ? (prefix === '' ? pathOf(issue) : `${prefix}.${pathOf(issue)}`) : root;
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${path}: unknown key`;
  if (issue.kind === 'schema') {
    return issue.input === undefined
      ? `${path}: required`
      : `${path}: expected ${issue.expected}, received ${kindOf(issue.input)}`;
  }
  return `${path}: ${issue.requirement === undefined || hasOwnWords(issue) ? issue.message : `must be ${issue.expected}`}`;
}

/** Messages that valibot makes up quote the value; ours, given at the schema, do not. */
function hasOwnWords(issue: v.BaseIssue<unknown>): boolean {
  return !issue.message.startsWith('Invalid ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
