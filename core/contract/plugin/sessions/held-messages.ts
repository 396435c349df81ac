import { ownBytes } from '../../values/bodies/own-bytes.ts';
import type { SessionMessage } from './web-socket.ts';

/** Approximate memory per held message beyond its bytes. */
const messageBytes = 100;

/** Returns the approximate memory of a held message in bytes. */
export function heldBytesOf({ data }: Pick<SessionMessage, 'data'>): number {
  return data.length + messageBytes;
}

/** Returns a message that keeps no memory beyond its bytes: messages are views of what one read of the socket returned, up to 64 KiB. */
export function toHeld<Message extends Pick<SessionMessage, 'data'>>(message: Message): Message {
  const data = ownBytes(message.data);
  return data === message.data ? message : { ...message, data };
}
