import { type HealthNotice, healthSubject } from '../contract/health.ts';
import { isObject } from '../contract/json.ts';

/** One way to other gateways, fast but without any promise. */
export interface HealthChannel {
  send(notice: HealthNotice): void;
  /** Gives each message as it came, unchecked. Called once. */
  listen(onNotice: (message: unknown) => void): void;
  /** No callback after this. Safe to call twice. */
  close(): void;
}

/** The part of `process` that cluster messages pass through; `send` is missing without a supervisor. */
export interface ProcessChannel {
  send?(message: object, handle: undefined, options: undefined, callback: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** To the other gateway processes of this machine: the supervisor passes `{ type: 'svc.health', notice }` on to them. */
export function createIpcChannel(channel: ProcessChannel): HealthChannel {
  let listener: ((message: unknown) => void) | null = null;
  return {
    send(notice) {
      try {
        channel.send?.({ type: healthSubject, notice }, undefined, undefined, () => {});
      } catch {
        // The channel is closed: this process is about to end.
      }
    },
    listen(onNotice) {
      listener = (message) => {
        if (isObject(message) && message.type === healthSubject) onNotice(message.notice);
      };
      channel.on('message', listener);
    },
    close() {
      if (listener) channel.off('message', listener);
      listener = null;
    },
  };
}

/** The part of a bus of many machines that carries notices beside the changes. */
export interface NoticeBus {
  publish(subject: string, notice: object): void;
  subscribe(subject: string, listener: (message: Uint8Array) => void): void;
}

/** To the gateways of other machines, over the connection that change notices come in on. The bus is closed by its owner. */
export function createBusChannel(bus: NoticeBus): HealthChannel {
  let open = true;
  return {
    send: (notice) => bus.publish(healthSubject, notice),
    listen: (onNotice) => bus.subscribe(healthSubject, (message) => open && onNotice(message)),
    close() {
      open = false;
    },
  };
}
