import type { SessionMessage } from './web-socket.ts';

/** Approximate memory per held message beyond its bytes. */
const messageBytes = 100;

/** Returns the approximate memory of a held message in bytes. */
export function heldBytesOf({ data }: Pick<SessionMessage, 'data'>): number {
  return data.length + messageBytes;
}

/**
 * Returns a message that keeps no memory beyond its bytes. Messages are views of what one read of the socket returned, up to
 * 64 KiB: a held message of a few bytes would keep all of it.
 */
export function toHeld<Message extends Pick<SessionMessage, 'data'>>(message: Message): Message {
  const { data } = message;
  if (data.buffer.byteLength <= 2 * data.length + messageBytes) return message;
  const own = Buffer.allocUnsafeSlow(data.length);
  own.set(data);
  return { ...message, data: own };
}
