import * as v from 'valibot';
import { issueTexts, listsReadAsObjects } from '../../../core/contract/values/errors/input-issues.ts';
import { AdminError } from '../errors.ts';

/**
 * Returns the schema's output. Throws AB01 with one `path: reason` per issue. `root` stands for the input as a whole, `prefix` precedes
 * each path inside it. The texts contain no values, which may be secrets.
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  root: string,
  prefix = '',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  const issues = result.success ? listsReadAsObjects(input, result.output, root) : issueTexts(result.issues, root, schema);
  if (issues.length === 0) return result.output as v.InferOutput<Schema>;
  const errors = [...new Set(issues)].map((issue) =>
    prefix === '' || issue.startsWith(`${root}: `) ? issue : `${prefix}.${issue}`,
  );
  throw new AdminError('AB01', errors[0] ?? `${root}: not valid`, errors);
}
