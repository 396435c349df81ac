import type * as v from 'valibot';
import type { Settings } from '../../../config/settings.ts';
import { checkJwk, checkKeySetUrl, type PublicJwk } from '../../../core/contract/protocol/credentials/key-set.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { invalid } from '../../http/errors.ts';
import type { JwtSettings, jwtBody } from './schema.ts';

const urlsMax = 10;

/** Returns the setting as stored, with only the public parameters of keys. Throws AB01 with the path of every issue. */
export function checkJwtSettings(
  sent: NonNullable<v.InferOutput<typeof jwtBody>>,
  settings: Pick<Settings, 'trustedCustomHosts'>,
): JwtSettings {
  const { jwks_url, jwks, issuer, audience, max_token_ttl } = sent;
  const urls = jwks_url === null ? null : checkUrls(urlsOf(jwks_url), settings).join(',');
  return { jwks_url: urls, jwks: jwks && { keys: checkKeys(jwks.keys) }, issuer, audience, max_token_ttl };
}

/** The URLs of a list with commas. */
export function urlsOf(list: string): string[] {
  return list.split(',').map((url) => url.trim());
}

function checkUrls(urls: readonly string[], settings: Pick<Settings, 'trustedCustomHosts'>): readonly string[] {
  if (urls.length > urlsMax) throw invalid(`jwt.jwks_url: at most ${urlsMax} URLs`);
  if (new Set(urls).size < urls.length) throw invalid('jwt.jwks_url: the same URL twice');
  const trusted = parseTrustedHosts(settings.trustedCustomHosts);
  const issues = urls.flatMap((url, index) => {
    const check = checkKeySetUrl(url, trusted);
    return check.ok ? [] : [`jwt.jwks_url: URL ${index + 1} ${check.reason}`];
  });
  if (issues.length > 0) throw invalid(...issues);
  return urls;
}

function checkKeys(keys: readonly unknown[]): PublicJwk[] {
  const good: PublicJwk[] = [];
  const issues: string[] = [];
  for (const [index, one] of keys.entries()) {
    const check = checkJwk(one);
    const path = `jwt.jwks.keys[${index}]`;
    if (!check.ok) issues.push(`${path}${check.field && `.${check.field}`}: ${check.reason}`);
    else if (good.some((other) => other.kid === check.jwk.kid)) issues.push(`${path}.kid: the same kid twice`);
    else good.push(check.jwk);
  }
  if (issues.length > 0) throw invalid(...issues);
  return good;
}
