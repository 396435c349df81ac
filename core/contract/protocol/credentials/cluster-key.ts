import { equalSecrets } from '../../values/credentials/equal-digests.ts';
import type { InboundRequest } from '../../values/http/http.ts';

/** True for a `POST` with the cluster key as bearer, as the control plane sends it to a gateway. */
export function isFromControlPlane(request: Pick<InboundRequest, 'method' | 'header'>, clusterKeyText: string): boolean {
  const bearer = /^Bearer (\S+)$/.exec(request.header('authorization') ?? '')?.[1] ?? '';
  return request.method === 'POST' && equalSecrets(bearer, clusterKeyText);
}
