import { anthropic } from './anthropic.ts';
import { claudePlatformAws } from './platform-on-aws.ts';

export const adapters = [anthropic, claudePlatformAws];
