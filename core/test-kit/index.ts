/**
 * Test kit for authors of plugins (`svc-gateway/test-kit`): runs a plugin through the pipeline of a gateway process, without a port, with
 * scripted replies of providers and services.
 */
export {
  chatReply,
  chatStream,
  failWith as providerFailure,
  messagesReply,
  messagesStream,
  replyWith as providerReply,
  responsesReply,
  responsesStream,
  type Script as ProviderScript,
  streamOf as providerStream,
} from './provider-scripts.ts';
export {
  createTestGateway,
  type LogLine,
  type ProviderCall,
  type ServiceCall,
  type ServiceReply,
  type TestGateway,
  type TestGatewayOptions,
  type TestReply,
  type TestRequest,
} from './test-gateway.ts';
