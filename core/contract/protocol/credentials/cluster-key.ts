import { createHash, timingSafeEqual } from 'node:crypto';
import type { InboundRequest } from '../../values/http/http.ts';

/** True for a `POST` with the cluster key as bearer, as the control plane sends it to a gateway. */
export function isFromControlPlane(request: Pick<InboundRequest, 'method' | 'header'>, clusterKeyText: string): boolean {
  const bearer = /^Bearer (\S+)$/.exec(request.header('authorization') ?? '')?.[1] ?? '';
  return request.method === 'POST' && timingSafeEqual(digest(bearer), digest(clusterKeyText));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
