import type { UnreadyReason } from '../http/built-in-routes.ts';

/** The state of a gateway process that decides whether it is ready. */
interface Readiness {
  readonly isStopping: boolean;
  /** Null if the keys match those of the control plane. */
  readonly keyIssue: string | null;
  readonly hasDocuments: boolean;
  readonly hasRoomForRecords: boolean;
}

/** Returns why a gateway process cannot serve now. Empty if it is ready. */
export function unreadyReasons({ isStopping, keyIssue, hasDocuments, hasRoomForRecords }: Readiness): UnreadyReason[] {
  const reasons: UnreadyReason[] = [];
  if (isStopping) reasons.push(shutdown);
  if (keyIssue !== null) reasons.push({ dependency: 'keys', message: keyIssue });
  if (!hasDocuments) reasons.push(noDocuments);
  if (!hasRoomForRecords) reasons.push(noRoomForRecords);
  return reasons;
}

const shutdown: UnreadyReason = { dependency: 'shutdown', message: 'This gateway is shutting down' };

const noDocuments: UnreadyReason = {
  dependency: 'control-plane',
  message:
    'The control plane has not replied yet, and DATA_DIR contains no documents of an earlier run. Check DATABASE_URL of the control plane, CONTROL_PLANE_URL, CLUSTER_KEY and the logs of both',
};

const noRoomForRecords: UnreadyReason = {
  dependency: 'records',
  message:
    'The spool is full (SPOOL_MAX or the disk of DATA_DIR), or cannot be written. Free space, restore the control plane, or see the log',
};
