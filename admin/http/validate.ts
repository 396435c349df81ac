import * as v from 'valibot';
import { faultOf, listsReadAsObjects } from '../../core/contract/values/input-issues.ts';
import { AdminError } from './errors.ts';

/**
 * Returns the schema's output. Throws AB01 with one `path: what is wrong` per issue. `root` names the input as a whole, `prefix`
 * precedes each path inside it. Values stay out of the texts: they may be secrets.
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  root: string,
  prefix = '',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  const faults = result.success
    ? listsReadAsObjects(input, result.output, root)
    : result.issues.slice(0, 50).map((issue) => faultOf(issue, root, schema));
  if (faults.length === 0) return result.output as v.InferOutput<Schema>;
  const errors = [...new Set(faults)].map((fault) =>
    prefix === '' || fault.startsWith(`${root}: `) ? fault : `${prefix}.${fault}`,
  );
  throw new AdminError('AB01', errors[0] ?? `${root}: not valid`, errors);
}
