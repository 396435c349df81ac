import type { CircuitNotice } from '../../plugin/services/circuits.ts';
import type { RecallNotice } from '../limits/leases.ts';
import type { ChangeNotice } from '../notices/change-notice.ts';

/**
 * Messages that the processes of one machine exchange through the supervisor (IPC of node:cluster). The supervisor reads the
 * messages below and ignores all others.
 *
 * A supervised process stops on the supervisor's message and ignores signals to the process group (`stop-requests.ts`): the
 * supervisor decides the order. It exits when the IPC channel is gone.
 */
export type ProcessMessage =
  | ReadyMessage
  | DatabaseAwayMessage
  | FirstStartMessage
  | ChangesMessage
  | CircuitMessage
  | AliveMessage
  | RecallMessage;

/** Sent once, when the process listens and is ready to serve. */
interface ReadyMessage {
  readonly type: 'ready';
  readonly role: 'gateway' | 'control-plane';
  readonly port: number;
}

/** Sent by the control plane before `ready`, when its database cannot be reached. It continues to try. */
interface DatabaseAwayMessage {
  readonly type: 'database-away';
}

export const databaseAwayMessage: DatabaseAwayMessage = { type: 'database-away' };

/** Sent by a gateway repeatedly while its event loop runs. */
export interface AliveMessage {
  readonly type: 'alive';
}

export const aliveMessage: AliveMessage = { type: 'alive' };

/** Sent by the control plane before `ready`, only by the start that created these keys. Printed once, stored nowhere. */
export interface FirstStartMessage {
  readonly type: 'first-start';
  readonly base_url: string;
  readonly control_plane_url: string;
  readonly admin_key: string;
  readonly workspace_key: string;
  readonly workspace_id: string;
  /** With BOOTSTRAP_OWNER_EMAIL: where the first owner sets a password. */
  readonly owner_link?: string;
}

/** Sent by the control plane after a commit, passed on to every gateway process in the same order. */
interface ChangesMessage {
  readonly type: 'svc.changes';
  readonly notice: ChangeNotice;
}

/** Sent by a gateway process when a circuit changed its state, passed on to every other gateway process of the machine. */
interface CircuitMessage {
  readonly type: 'svc.circuits';
  readonly notice: CircuitNotice;
}

/** Sent by a gateway process that lacks units of a budget, passed on to every other gateway process of the machine. */
interface RecallMessage {
  readonly type: 'svc.leases.recall';
  readonly notice: RecallNotice;
}

export const exitCodes = {
  /** Exit code for settings that cannot work or a port in use: a restart would not help. EX_CONFIG of sysexits(3). */
  configuration: 78,
} as const;
