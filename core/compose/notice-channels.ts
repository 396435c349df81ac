import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { isObject } from '../contract/values/json/json.ts';

/** The part of `process` that cluster messages pass through; `send` is missing without a supervisor. */
export interface ProcessChannel {
  send?(message: object, handle: undefined, options: undefined, callback: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Sends notices to the other gateway processes of this machine: the supervisor forwards `{ type: subject, notice }` to them. */
export function createIpcChannel<Notice extends object>(channel: ProcessChannel, subject: string): NoticeChannel<Notice> {
  let listener: ((message: unknown) => void) | null = null;
  return {
    send(notice) {
      try {
        channel.send?.({ type: subject, notice }, undefined, undefined, () => {});
      } catch {
        // The channel is closed: this process is about to end.
      }
    },
    listen(onNotice) {
      listener = (message) => {
        if (isObject(message) && message.type === subject) onNotice(message.notice);
      };
      channel.on('message', listener);
    },
    close() {
      if (listener) channel.off('message', listener);
      listener = null;
    },
  };
}

/** The part of the bus between machines that carries notices other than changes. */
export interface NoticeBus {
  publish(subject: string, notice: object): void;
  messageBytesMax(): number | null;
  subscribe(subject: string, listener: (message: Uint8Array) => void): void;
}

/** Sends notices to gateways of other machines, over the connection that change notices use. The owner of the bus closes it. */
export function createBusChannel<Notice extends object>(bus: NoticeBus, subject: string): NoticeChannel<Notice> {
  let open = true;
  return {
    send: (notice) => bus.publish(subject, notice),
    bytesMax: () => bus.messageBytesMax(),
    listen: (onNotice) => bus.subscribe(subject, (message) => open && onNotice(message)),
    close() {
      open = false;
    },
  };
}
