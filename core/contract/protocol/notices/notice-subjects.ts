/** Subjects of notices between gateway processes. The supervisor forwards them on its machine, NATS to other machines. */
export const circuitSubject = 'svc.circuits';
/** A gateway process asks the others to return unneeded units of a budget. */
export const recallSubject = 'svc.leases.recall';
/** An entry of the cache is no longer valid. */
export const dropSubject = 'svc.cache.drop';

/** A message of an MCP session for the process that has its connection, or back. */
export const peerSubject = 'svc.mcp.peers';

export const noticeSubjects: ReadonlySet<string> = new Set([circuitSubject, recallSubject, dropSubject, peerSubject]);
