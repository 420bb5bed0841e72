import { StartProblem } from '../../kernel/base/start-problem.js';
import type { JsonObject } from '../../kernel/base/json.js';

/** The part of the package that is used here; tests bring their own. */
export type LlamaPackage = {
  readonly getLlama: (options: {
    readonly build: 'never';
    readonly progressLogs: false;
    /** Default: all cores and at least four, regardless of load. */
    readonly maxThreads: number;
  }) => Promise<Llama>;
  readonly LlamaChatSession: new (options: { readonly contextSequence: LlamaSequence }) => LlamaSession;
};
/** What was said before a prompt. */
export type LlamaHistory = readonly (
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly string[] }
)[];
export type Llama = {
  loadModel(options: { readonly modelPath: string; readonly loadSignal: AbortSignal }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: JsonObject): Promise<unknown>;
  dispose(): Promise<void>;
};
export type LlamaModel = {
  createContext(options: { readonly contextSize: { readonly max: number } }): Promise<LlamaContext>;
  tokenize(text: string): readonly unknown[];
};
/** `contextSize`: in tokens; fewer than requested if the model was not made for more. */
type LlamaContext = { readonly contextSize: number; getSequence(): LlamaSequence };
export type LlamaSequence = {
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  clearHistory(): Promise<void>;
};
type LlamaSession = {
  /** Without it, the package begins with a system message of its own. */
  setChatHistory(history: LlamaHistory): void;
  prompt(
    text: string,
    options: {
      readonly signal: AbortSignal;
      readonly maxTokens?: number;
      readonly temperature?: number;
      readonly customStopTriggers?: readonly string[];
      readonly grammar?: unknown;
      readonly onTextChunk?: (text: string) => void;
    },
  ): Promise<string>;
  dispose(): void;
};

/** Not in package.json: only servers configured with a GGUF need it. */
const PACKAGE: string = 'node-llama-cpp';

/** @throws StartProblem if the package is not installed or cannot be used on this machine */
export const loadLlamaPackage = async (name = PACKAGE): Promise<LlamaPackage> => {
  try {
    return (await import(name)) as LlamaPackage;
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    throw new StartProblem(
      missing
        ? `ANIMA_CORTEX_GGUF needs the package ${PACKAGE}, which is not installed: run "npm install --no-save ${PACKAGE}" in the folder of this program, or remove the variable.`
        : `ANIMA_CORTEX_GGUF needs the package ${PACKAGE}, which cannot be loaded: reinstall it on this machine, or remove the variable.`,
      { cause },
    );
  }
};
