import { defaultPrefix } from '../../contract/protocol/header-names.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';

/**
 * Renames the parameter of an error about a header that came in the body's `svc_options`: `param` and the message use
 * `svc_options.<name>`. An error about several settings names them in `settings`. Returns any other error unchanged.
 */
export function nameSvcOption(error: GatewayError, options: ReadonlySet<string>): GatewayError {
  if (error.source !== 'client') return error;
  const names = [error.param?.replace(defaultPrefix, ''), ...error.settings];
  const name = names.map((each) => each?.replaceAll('_', '-')).find((each) => each !== undefined && options.has(each));
  if (name === undefined) return error;
  const param = `svc_options.${name}`;
  return error.renamed(`${param}: ${error.message}`, param);
}
