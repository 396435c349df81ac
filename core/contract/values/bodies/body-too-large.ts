import { GatewayError } from '../errors/errors.ts';

/** The error of a body of more than `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): GatewayError {
  const megabytes = bytesMax / (1024 * 1024);
  const limit = megabytes >= 1 ? `${Math.floor(megabytes)}MB` : `${bytesMax} bytes`;
  return new GatewayError('body_too_large', { message: `Payload size exceeds the limit of ${limit}` });
}
