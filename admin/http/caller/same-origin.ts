import type { Settings } from '../../../config/settings.ts';
import { vouchHeader } from '../../../core/contract/values/addresses/client-origin.ts';
import { isClusterKey } from './client-address.ts';

type Header = (name: string) => string | undefined;

/** Origin of a request as sent by the browser. `unknown` for programs, which send neither header. */
export type RequestOrigin = 'same' | 'cross' | 'unknown';

/**
 * Returns `same` if a browser sent the request from a page of this service. Browsers set `Origin` on every request that could
 * change something, and pages cannot forge it or `Sec-Fetch-Site`.
 */
export function requestOrigin(header: Header, settings: Pick<Settings, 'publicUrl' | 'clusterKeyText'>): RequestOrigin {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'cross';
  const origin = header('origin');
  if (origin === undefined) return 'unknown';
  const sent = URL.parse(origin);
  if (sent === null || sent.origin === 'null') return 'cross';
  if (sent.origin === new URL(settings.publicUrl).origin) return 'same';
  // The gateway in front forwards the requested host. The header is trusted only with the cluster key.
  const vouched = isClusterKey(header(vouchHeader) ?? '', settings) ? header('x-forwarded-host') : undefined;
  return sent.host === (vouched ?? header('host')) ? 'same' : 'cross';
}
