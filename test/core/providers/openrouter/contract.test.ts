import { openrouter } from '../../../../core/providers/openrouter/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(openrouter, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter', error: 'length' },
});
