import cluster from 'node:cluster';

/** Signals that a terminal, a process manager or a closing session sends to a whole process group. */
const groupSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Sent by the supervisor to a child: finish what runs, then exit. */
export const stopMessage = { type: 'svc.stop' } as const;
/** Sent by the supervisor to gateways on SIGHUP: read the certificate files again. */
export const reloadMessage = { type: 'svc.reload' } as const;

export interface StopHandlers {
  stop(): void;
  /** Absent: there is nothing to reload. */
  reload?(): void;
}

/**
 * Calls the handlers when this process is asked to stop or to reload. A child of the supervisor follows the supervisor's messages
 * alone: a SIGTERM to the process group must not end a control plane whose gateways still drain. A process without a supervisor
 * follows SIGTERM, SIGINT and SIGHUP itself. SIGHUP never ends a process.
 */
export function onStopRequests(handlers: StopHandlers): void {
  if (!cluster.isWorker) {
    process.on('SIGTERM', handlers.stop);
    process.on('SIGINT', handlers.stop);
    process.on('SIGHUP', () => handlers.reload?.());
    return;
  }
  for (const signal of groupSignals) process.on(signal, () => {});
  process.on('message', (message: { type?: string } | null) => {
    if (message?.type === stopMessage.type) handlers.stop();
    else if (message?.type === reloadMessage.type) handlers.reload?.();
  });
}
