//! Tables as logs, in several forms.
