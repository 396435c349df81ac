/** Names of members of `_meta` that the protocol and tracing define: revision, client, token of progress. */
export const metaOfProtocol =
  /^(?:io\.modelcontextprotocol\/(?:protocolVersion|clientInfo|clientCapabilities|logLevel|related-task|subscriptionId)|progressToken|traceparent|tracestate|baggage)$/;
