import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { listenToProcess, type MessageSource } from '../contract/protocol/notices/process-notices.ts';
import type { NoticeBus } from '../documents/bus.ts';

/** The part of `process` that cluster messages pass through; `send` is missing without a supervisor. */
interface ProcessChannel extends MessageSource {
  send?(message: object, handle: undefined, options: undefined, callback: (error: Error | null) => void): unknown;
}

/** Sends notices to the other gateway processes of this machine: the supervisor forwards `{ type: subject, notice }` to them. */
export function createIpcChannel<Notice extends object>(channel: ProcessChannel, subject: string): NoticeChannel<Notice> {
  let stop = (): void => {};
  return {
    send(notice) {
      try {
        channel.send?.({ type: subject, notice }, undefined, undefined, () => {});
      } catch {
        // The channel is closed: this process is about to end.
      }
    },
    listen(onNotice) {
      stop = listenToProcess(channel, subject, onNotice);
    },
    close: () => stop(),
  };
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
