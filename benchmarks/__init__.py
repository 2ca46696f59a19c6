"""Speed, memory and quality, measured: each script prints its figures and the settings behind them."""
