/** Why the server or an offline command cannot start: one clear sentence for stderr, exit code 1, nothing changed. */
export class StartProblem extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'StartProblem';
  }
}
