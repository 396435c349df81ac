import { deepseek } from '../../../../core/providers/deepseek/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(deepseek, {
  finishReasons: {
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool_calls',
    content_filter: 'content_filter',
    insufficient_system_resource: 'length',
  },
});
