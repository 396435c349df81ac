import type { WireFormat } from '../contract/context.ts';
import type { OperationName } from '../contract/provider.ts';

/** One shaped route: method and path below `/v1`, the operation it means, and the format its errors take. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationName;
  readonly format: WireFormat;
}
