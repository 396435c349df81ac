import { GatewayError } from '../../contract/values/errors.ts';

/**
 * Renames the parameter of an error about a header that came in the body's `svc_options`: `param` and the message use
 * `svc_options.<name>`. Returns any other error unchanged.
 */
export function nameSvcOption(error: GatewayError, options: ReadonlySet<string>): GatewayError {
  if (error.source !== 'client') return error;
  const said = error.param === null ? '' : error.param.replace(/^x-svc-/, '').replaceAll('_', '-');
  const name = options.has(said) ? said : [...options].find((option) => mentions(error.message, option));
  if (name === undefined) return error;
  const { code, status, message, errors, detail, cause, retryAfterMs } = error;
  const param = `svc_options.${name}`;
  return new GatewayError(code, {
    message: `${param}: ${message}`,
    param,
    status,
    cause,
    ...(errors ? { errors } : {}),
    ...(detail === null ? {} : { detail }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** Errors of several settings name them in the message: `Invalid settings for bedrock: aws_s3_bucket: …`. */
function mentions(message: string, option: string): boolean {
  return message.includes(` ${option.replaceAll('-', '_')}: `);
}
