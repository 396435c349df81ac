import { xAi } from '../../../../core/providers/x-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(xAi, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
