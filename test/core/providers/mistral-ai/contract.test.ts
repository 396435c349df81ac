import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(mistralAi, {
  finishReasons: {
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool_calls',
    content_filter: 'content_filter',
    model_length: 'length',
    error: 'length',
  },
});
