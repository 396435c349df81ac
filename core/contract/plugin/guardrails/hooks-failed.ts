/** Status of a reply whose guardrails failed without denying it. The reply is accepted, but a config can list the status. */
export const hooksFailed = 246;
