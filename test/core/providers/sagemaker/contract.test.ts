import { sagemaker } from '../../../../core/providers/sagemaker/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(sagemaker, {
  settings: { aws_region: 'eu-west-1' },
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', eos: 'stop' },
  credential: null,
});
