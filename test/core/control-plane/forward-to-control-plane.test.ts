import { expect, it } from 'vitest';
import { createForward } from '../../../core/control-plane/forward-to-control-plane.ts';

it.each([
  ['/v1/configs', 1],
  ['/v1/scim/8d0c1ad8-9b0f-4d0e-a8c1-6a4b1b0c8a11/Users', 1],
  ['/v1/scim/8d0c1ad8-9b0f-4d0e-a8c1-6a4b1b0c8a11/Groups', 4],
  ['/v2/scim/8d0c1ad8-9b0f-4d0e-a8c1-6a4b1b0c8a11/groups/2', 4],
])('a gateway forwards to %s of the control plane bodies of up to %i MiB', (path, mebibytes) => {
  const limits: unknown[] = [];
  const forward = createForward({
    transport: { send: ({ bodyBytesMax }: { bodyBytesMax?: number }) => limits.push(bodyBytesMax) },
    controlPlaneUrl: 'http://127.0.0.1:1',
    clusterKey: 'key',
  } as never);
  const request = { path, query: '', method: 'PUT', headers: [], header: () => undefined, body: { length: 1 } };
  forward(request as never, { onAbort: () => {} } as never);
  expect(limits).toEqual([mebibytes * 1_048_576]);
});
