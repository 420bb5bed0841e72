/** What operators watch. Counting never fails and never waits. */
export interface Metrics {
  /** Begins to time a request; pass the result to `request`. */
  begin(): number;
  /** Counts an answered request under its operation and HTTP status. */
  request(operationId: string, status: number, begun: number): void;
  /** Everything counted so far, with the media type of its text. */
  render(): Promise<{ readonly type: string; readonly content: string }>;
}
