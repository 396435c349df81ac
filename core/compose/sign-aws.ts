import { awsSigned } from '../cloud-auth/aws-sign.ts';
import type { SignAws } from '../contract/plugin/services/sign-aws.ts';
import type { Clock } from '../contract/values/time/clock.ts';

/** Signs calls of built-in plugins to AWS. */
export function createSignAws(clock: Clock): SignAws {
  return ({ url, headers, body, service, region, accessKeyId, secretAccessKey, sessionToken }) => {
    const { origin, pathname, search } = new URL(url);
    const call = { method: 'POST', origin, path: `${pathname}${search}`, headers, body };
    const identity = { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: null };
    return awsSigned(call, identity, { service, region, nowMs: clock.now() });
  };
}
